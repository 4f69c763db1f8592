"""MulVAL graphs in their three forms, as they are and with everything wrong that we could think of."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from importers.samples import ARCS, MULVAL_DOT, MULVAL_XML, VERTICES
from ncirl.attack_graphs.graph import AttackGraph
from ncirl.errors import InputError
from ncirl.importers import Imported, import_graph


def pair(folder: Path, vertices: str = VERTICES, arcs: str = ARCS) -> list[Path]:
    (folder / "VERTICES.CSV").write_text(vertices)
    (folder / "ARCS.CSV").write_text(arcs)
    return [folder / "VERTICES.CSV", folder / "ARCS.CSV"]


def text_file(folder: Path, name: str, content: str) -> Path:
    (folder / name).write_text(content)
    return folder / name


def shape(graph: AttackGraph) -> set[tuple[tuple[str, ...], str]]:
    labels = {condition.id: condition.label for condition in graph.conditions}
    return {(tuple(labels[p] for p in exploit.premises), labels[exploit.result]) for exploit in graph.exploits}


def notes(imported: Imported) -> str:
    return str(imported.report)


SHAPE = {(("attackerLocated(internet)",), "execCode(web,www)"), (("execCode(web,www)",), "execCode(db,root)")}


def test_rules_become_exploits_and_facts_the_start(tmp_path: Path) -> None:
    imported = import_graph("mulval", pair(tmp_path))
    assert shape(imported.graph) == SHAPE
    assert [e.id for e in imported.graph.exploits] == [
        "remote_exploit_of_a_server_program_2",
        "remote_exploit_of_a_server_program_7",
    ]
    assert (imported.report.facts, imported.report.goals) == (2, ("execCode_db_root",))
    assert imported.report.initial == ("attackerLocated_internet",)
    assert imported.graph.name == tmp_path.name


def test_the_pair_is_found_in_any_order_by_one_of_it_and_by_its_directory(tmp_path: Path) -> None:
    files = pair(tmp_path)
    graph = import_graph("mulval", files).graph
    for given in ([*reversed(files)], files[:1], files[1:], [tmp_path]):
        assert import_graph("mulval", given).graph == graph


def test_vertices_and_arcs_may_be_in_one_file(tmp_path: Path) -> None:
    whole = text_file(tmp_path, "AttackGraph.txt", ARCS + VERTICES)
    assert len(import_graph("mulval", whole).graph.exploits) == 2
    assert import_graph("mulval", tmp_path).graph.name == tmp_path.name


def test_xml_and_dot_tell_the_same(tmp_path: Path) -> None:
    xml = import_graph("mulval", text_file(tmp_path, "AttackGraph.xml", MULVAL_XML)).graph
    dot = import_graph("mulval", text_file(tmp_path, "AttackGraph.dot", MULVAL_DOT)).graph
    assert shape(xml) == shape(dot) == {((), "execCode(db,root)")}
    assert [e.id for e in xml.exploits] == [e.id for e in dot.exploits]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (':0",shape', '",shape'),  # --nometric
        ("\t", " "),
        ("digraph G {", "// made by\n# hand\nDigraph G\n{"),
        ("digraph G {", 'digraph "a b" { // {\n rankdir=LR; node [fontsize=9] /* x * y */'),
        (";\n", "\n"),
        ("2 -> \t1;\n\t3 -> \t2;", "3 -> 2 -> 1;"),
        ("shape=box", 'shape="box",\n pos="1,2"'),
        ("[label=", "[color=red] ; 1 [label="),
    ],
)
def test_dot_is_read_in_many_dialects(old: str, new: str, tmp_path: Path) -> None:
    assert old in MULVAL_DOT
    content = MULVAL_DOT.replace(old, new) if old != "[label=" else MULVAL_DOT.replace("1 [label=", f"1 {new}", 1)
    graph = import_graph("mulval", text_file(tmp_path, "g.dot", content)).graph
    assert shape(graph) == {((), "execCode(db,root)")}


def test_dot_of_derived_facts_alone_is_read(tmp_path: Path) -> None:
    content = """digraph single_host_1 {
    graph [name=single_host_1];
    1   [color=blue,
        label="1:execCode(db,root):0",
        scores="[50.0]",
        type=OR];
    3 [label="3:accessFile(db,write,'/x'):0", shape=diamond];
    3 -> 1 [key=0,
    label=50.0];
    0 [t_k=50.0, type=ROOT];
    0 -> 3 [key=0];
    }"""
    imported = import_graph("mulval", text_file(tmp_path, "g.dot", content))
    assert shape(imported.graph) == {
        ((), "accessFile(db,write,'/x')"),
        (("accessFile(db,write,'/x')",), "execCode(db,root)"),
    }
    assert "facts derived from a fact without a rule between are steps" in notes(imported)


def test_reversed_dot_is_turned_and_that_is_said(tmp_path: Path) -> None:
    arcs = [line.strip().strip(";").split(" -> ") for line in MULVAL_DOT.splitlines() if "->" in line]
    nodes = [line for line in MULVAL_DOT.splitlines() if "->" not in line and line != "}"]
    turned = "\n".join([*nodes, *(f"{b.strip()} -> {a.strip()};" for a, b in arcs), "}"])
    imported = import_graph("mulval", text_file(tmp_path, "g.dot", turned))
    assert shape(imported.graph) == {((), "execCode(db,root)")}
    assert "against MulVAL's custom" in notes(imported)


def test_facts_that_xml_does_not_escape_are_read(tmp_path: Path) -> None:
    content = MULVAL_XML.replace("vulExists(db)", "vulExists(db,'a<b&c')").replace(
        "execCode(db,root)", "execCode('a&b<c')"
    )
    graph = import_graph("mulval", text_file(tmp_path, "g.xml", content)).graph
    assert shape(graph) == {((), "execCode('a&b<c')")}
    assert "a<b&c" in graph.exploits[0].references


def test_rules_need_all_their_derived_premises(tmp_path: Path) -> None:
    vertices = VERTICES + '10,"principalCompromised(admin)","OR",0\n11,"RULE 12 (password sniffing)","AND",0\n'
    arcs = ARCS + "2,10,-1\n10,11,-1\n11,8,-1\n"
    imported = import_graph("mulval", pair(tmp_path, vertices, arcs))
    assert (("execCode(web,www)", "principalCompromised(admin)"), "execCode(db,root)") in shape(imported.graph)
    assert imported.report.and_steps == 1


@pytest.mark.parametrize(
    ("metrics", "success"),
    [
        ({2: "0.9"}, [0.9, 0.8]),
        ({2: "0.9", 4: "1"}, [0.9, 0.8]),
        ({2: "0.9", 4: "0.7"}, [0.9, 0.8]),  # a way is open or not: what only says so is no attempt
        ({2: "0.9", 5: "0.7"}, [0.9, 0.8]),
        ({2: "cvss_ac_h"}, [0.2, 0.8]),
        ({9: "0.5"}, [0.5, 0.8]),  # that a fact holds says nothing of an attempt
        ({2: "0.5", 9: "0.5"}, [0.25, 0.8]),
        ({2: "7"}, [0.8, 0.8]),
        ({2: "nan"}, [0.8, 0.8]),
    ],
)
def test_metrics_are_probabilities_where_they_tell_anything(
    metrics: dict[int, str], success: list[float], tmp_path: Path
) -> None:
    lines = VERTICES.splitlines()
    for row, metric in metrics.items():
        lines[row - 1] = lines[row - 1].rpartition(",")[0] + "," + metric
    imported = import_graph("mulval", pair(tmp_path, "\n".join(lines)))
    assert [exploit.success for exploit in imported.graph.exploits] == success


@pytest.mark.parametrize(
    "vertices",
    [
        "id,fact,type,metric\n" + VERTICES,
        VERTICES.replace('"', ""),
        "".join(f"{line.rpartition(',')[0]}\n" for line in VERTICES.splitlines()),
        VERTICES.replace("\n", "\r\n"),
        "\ufeff" + VERTICES,
        VERTICES.replace('"OR"', '"or"'),
        VERTICES + VERTICES.splitlines()[2] + "\n",
    ],
    ids=["header", "no quotes", "no metric", "CRLF", "byte-order mark", "lower case", "a vertex twice"],
)
def test_vertices_are_read_liberally(vertices: str, tmp_path: Path) -> None:
    assert len(import_graph("mulval", pair(tmp_path, vertices)).graph.exploits) == 2


@pytest.mark.parametrize(
    "arcs",
    [
        "src,dst,weight\n" + ARCS,
        ARCS.replace(",-1", ""),
        ARCS.replace(",-1", ","),
        ARCS + ARCS,
        ARCS.replace("1,2", "1.0,2.0"),
    ],
    ids=["header", "no weight", "empty weight", "twice", "as pandas writes them"],
)
def test_arcs_are_read_liberally(arcs: str, tmp_path: Path) -> None:
    assert len(import_graph("mulval", pair(tmp_path, arcs=arcs)).graph.exploits) == 2


@pytest.mark.parametrize(
    ("arc", "said"),
    [
        ("77,2,-1", "steps with a condition that is not in the file|arcs from a vertex that is not in the file: 77,2"),
        ("2,77,-1", r"steps with a condition that is not in the file: .*_?2 \(77\)"),
        ("5,2,-1", "arcs that would derive a fact of the input: 5,2"),
        ("2,1,-1", "steps that need their own result"),
        ("2,4,-1", r"steps with a condition that is not in the file: .* \(4\)"),
    ],
)
def test_arcs_that_make_no_sense_are_dropped_and_told(arc: str, said: str, tmp_path: Path) -> None:
    with_more = VERTICES + '10,"execCode(web,root)","OR",0\n11,"RULE 3 (local)","AND",0\n'
    imported = import_graph("mulval", pair(tmp_path, with_more, ARCS + f"10,11,-1\n11,6,-1\n{arc}\n"))
    assert re.search(said, notes(imported))


def test_a_rule_with_a_premise_that_is_not_in_the_file_is_not_made_easier(tmp_path: Path) -> None:
    imported = import_graph("mulval", pair(tmp_path, arcs=ARCS + "4,77,-1\n"))
    assert shape(imported.graph) == {(("attackerLocated(internet)",), "execCode(web,www)")}


def test_goals_on_cycles_are_not_sinks_and_vertex_1_is_guessed(tmp_path: Path) -> None:
    back = VERTICES + '10,"RULE 5 (multi-hop access)","AND",0\n'
    imported = import_graph("mulval", pair(tmp_path, back, ARCS + "6,10,-1\n10,1,-1\n"))
    assert imported.report.cycles == 1
    assert imported.report.goals == ("execCode_db_root",)
    assert "vertex 1" in notes(imported)


@pytest.mark.parametrize(
    ("vertices", "arcs", "essence"),
    [
        (VERTICES + '3,"other","OR",0\n', ARCS, "line 10: vertex 3 is there already"),
        (VERTICES + "12,\n", ARCS, "line 10: is neither a vertex"),
        (VERTICES + '12,"fact","MAYBE",0\n', ARCS, "line 10: is neither a vertex"),
        (VERTICES, ARCS + "x,2,-1\n", "line 9: is neither a vertex"),
        (VERTICES, "5\n", "no arcs are given"),
        (ARCS, ARCS, "no vertices are given; .* VERTICES.CSV, name it too"),
        ("", ARCS, "the file is empty"),
    ],
)
def test_contradictions_and_malformed_rows_are_refused(vertices: str, arcs: str, essence: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=essence):
        import_graph("mulval", pair(tmp_path, vertices, arcs))


@pytest.mark.parametrize(
    ("name", "content", "essence"),
    [
        ("g.xml", MULVAL_XML.replace("</vertices>", ""), "not well-formed XML: mismatched tag"),
        ("g.xml", MULVAL_XML.replace("<id>4</id>", ""), "vertex 4 has no <id>"),
        ("g.xml", MULVAL_XML.replace("<dst>2</dst>", ""), "arc 1 has no <dst>"),
        ("g.xml", MULVAL_XML.replace(">LEAF<", ">NONE<"), "type must be AND, OR or LEAF"),
        ("g.xml", "<!DOCTYPE a>" + MULVAL_XML, "remove the DOCTYPE"),
        ("g.xml", "<attack_graph/>", "no vertices are given"),
        ("g.dot", MULVAL_DOT[:-3], "was it cut off"),
        ("g.dot", MULVAL_DOT.replace("2 -> ", "2 -> @"), "line 8: not DOT"),
        ("g.txt", "hello world", "line 1|no vertices"),
        ("VERTICES.CSV", VERTICES, "no arcs are given; .* ARCS.CSV, name it too"),
    ],
)
def test_malformed_files_are_refused_with_the_place(name: str, content: str, essence: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=essence):
        import_graph("mulval", text_file(tmp_path, name, content))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("g.dot", "// \n\n  " * 500_000 + "x"),
        ("g.dot", "#\n" * 1_000_000),
        ("g.dot", "digraph G {" + "/*" * 1_000_000 + "}"),
        ("g.xml", "<fact>" * 500_000),
        ("g.txt", "1," * 1_000_000),
    ],
)
def test_files_made_to_take_for_ever_are_refused(name: str, content: str, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        import_graph("mulval", text_file(tmp_path, name, content))


def test_a_directory_without_a_graph_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has no VERTICES\.CSV"):
        import_graph("mulval", tmp_path)


PLACES = """\
1,"execCode(web,user)","OR",0
2,"RULE 1 (remote exploit of a server program)","AND",0
3,"netAccess('10.0.0.2',tcp,80)","OR",0
4,"RULE 2 (multi-hop access)","AND",0
5,"hacl('10.0.0.1','10.0.0.2',tcp,80)","OR",0
6,"RULE 8 (Access enabled between hosts in same vlan)","AND",0
7,"ipInSameVLAN('10.0.0.1','10.0.0.2')","OR",0
8,"RULE 7 (Interfaces are in the same vlan)","AND",0
9,"isInVlan('10.0.0.1',dmz)","LEAF",1
10,"isInVlan('10.0.0.2',dmz)","LEAF",1
11,"hasIP(laptop,'10.0.0.1')","LEAF",1
12,"execCode(laptop,root)","OR",0
13,"RULE 3 (Attacker is root on his machine)","AND",0
14,"attackerLocated(laptop)","LEAF",1
15,"vulExists(web,'CVE-2007-2446',httpd,remoteExploit,privEscalation)","LEAF",1
16,"hasIP(web,'10.0.0.2')","LEAF",1
17,"execCode(web,root)","OR",0
18,"RULE 3 (Attacker is root on his machine)","AND",0
19,"attackerLocated(web)","LEAF",1
20,"RULE 1 (remote exploit of a server program)","AND",0
21,"vulExists(web,'CVE-2008-1',httpd,remoteExploit,privEscalation)","LEAF",1
"""
PLACE_ARCS = """\
1,2\n2,3\n2,15\n2,16\n3,4\n4,5\n4,11\n4,12\n4,16\n5,6\n6,7\n6,9\n7,8\n8,9\n8,10\n12,13\n13,14\n17,18\n18,19
1,20\n20,3\n20,21\n20,16
"""


def test_what_follows_from_the_configuration_is_no_step_and_the_attackers_machine_no_goal(tmp_path: Path) -> None:
    files = pair(tmp_path, PLACES, PLACE_ARCS)
    imported = import_graph("mulval", files, settings={"attacker": "laptop"})
    assert shape(imported.graph) == {(("execCode(laptop,root)",), "execCode(web,user)")}
    assert imported.report.goals == ("execCode_web_user",)
    assert "is a fact, no step: hacl('10.0.0.1','10.0.0.2',tcp,80), ipInSameVLAN" in notes(imported)


def test_what_a_stronger_privilege_gives_is_held_and_no_goal(tmp_path: Path) -> None:
    files = pair(
        tmp_path,
        PLACES
        + '22,"execCode(db,user)","OR",0\n23,"RULE 1 (x)","AND",0\n24,"vulExists(db,\'CVE-2008-2\',sql)","LEAF",1\n',
        PLACE_ARCS + "22,23\n23,24\n23,1\n",
    )
    imported = import_graph("mulval", files)
    assert imported.report.goals == ("execCode_db_user",)
    offered = [candidate.id for candidate in imported.candidates.goals]
    assert offered[0] == "execCode_db_user"
    assert "execCode_web_user" not in offered
    places = "Attackers are in 2 places at once: laptop, web; --set attacker=… chooses."
    assert places in imported.graph.found.assumed
    told = str(imported.report).splitlines()
    assert told.index(f"ASSUMED: {places}") < told.index(next(line for line in told if line.startswith("mulval:")))
    with pytest.raises(InputError, match=r"goal 'execCode.web,user.': the intruder has it from the start"):
        import_graph("mulval", files, goals=("execCode(web,user)",))
    elsewhere = import_graph("mulval", files, goals=("execCode(web,user)",), settings={"attacker": "laptop"})
    assert elsewhere.report.goals == ("execCode_web_user",)


def test_the_person_chooses_where_attackers_begin(tmp_path: Path) -> None:
    files = pair(tmp_path, PLACES, PLACE_ARCS)
    chosen = import_graph("mulval", files, settings={"attacker": "laptop"})
    assert chosen.report.initial == ("execCode_laptop_root",)
    with pytest.raises(InputError, match="attacker=moon: no attacker is located there; there are laptop, web"):
        import_graph("mulval", files, settings={"attacker": "moon"})


def test_exploits_say_host_program_and_vulnerabilities(tmp_path: Path) -> None:
    files = pair(tmp_path, PLACES, PLACE_ARCS)
    (exploit,) = import_graph("mulval", files, settings={"attacker": "laptop"}, merge=True).graph.exploits
    said = "remote exploit of a server program: httpd at tcp/80 on web (CVE-2007-2446, CVE-2008-1) from laptop"
    assert (exploit.label, exploit.asset) == (said, "web")
    assert exploit.references == ("CVE-2007-2446", "RULE 1", "CVE-2008-1")


def test_vulnerabilities_can_be_patched_and_flows_closed(tmp_path: Path) -> None:
    files = pair(tmp_path, PLACES, PLACE_ARCS)
    graph = import_graph("mulval", files, settings={"attacker": "laptop"}).graph
    controls = {control.label: control for control in graph.controls or ()}
    assert list(controls) == ["patch httpd on web", "close tcp/80 from 10.0.0.1 to 10.0.0.2"]
    patch, closed = controls.values()
    assert (patch.lasts, patch.references) == (True, ("CVE-2007-2446", "CVE-2008-1"))
    assert closed.lasts  # a rule of a firewall stays
    assert patch.blocks == closed.blocks == tuple(exploit.id for exploit in graph.exploits)
    assert [exploit.references[0] for exploit in graph.exploits] == ["CVE-2007-2446", "CVE-2008-1"]


def test_facts_about_cvss_are_the_success(tmp_path: Path) -> None:
    vertices = VERTICES + '10,"cvss(\'CVE-1\',m)","LEAF",1\n'
    imported = import_graph("mulval", pair(tmp_path, vertices, ARCS + "2,10,-1\n"))
    assert [exploit.success for exploit in imported.graph.exploits] == [0.6, 0.8]
    assert "success 0.6 of 1 exploit (50%): a default, the access complexity" in notes(imported)


@pytest.mark.parametrize(
    ("vertices", "arcs", "essence"),
    [
        (PLACES, ARCS, "12 of 21 vertices are in no arc .*different graphs"),
        (VERTICES, PLACE_ARCS, "arcs join what MulVAL never joins.*different graphs"),
        (
            VERTICES.replace("(db,", "(mail,", 1)
            .replace("netAccess(db", "netAccess(file")
            .replace("(web,www)", "(a,b)"),
            ARCS,
            "3 of 3 rules have nothing to do with what they conclude, such as 2 about mail .*different graphs",
        ),
    ],
)
def test_vertices_and_arcs_of_different_graphs_are_refused(
    vertices: str, arcs: str, essence: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=essence):
        import_graph("mulval", pair(tmp_path, vertices, arcs))


def test_a_second_form_in_the_folder_must_be_the_same_graph(tmp_path: Path) -> None:
    pair(tmp_path, *MULVAL_PAIR)
    text_file(tmp_path, "AttackGraph.xml", MULVAL_XML)
    agreeing = import_graph("mulval", tmp_path)
    assert "forms of the graph in the folder that say the same: AttackGraph.xml" in notes(agreeing)
    text_file(tmp_path, "AttackGraph.dot", "digraph G { 1 [shape=box")
    assert "a second form of the graph that cannot be read" in notes(import_graph("mulval", tmp_path))
    text_file(tmp_path, "AttackGraph.xml", MULVAL_XML.replace("vulExists(db)", "vulExists(web)"))
    with pytest.raises(InputError, match=r"AttackGraph.xml: is another graph than .*vertex 3 says 'vulExists\(web\)'"):
        import_graph("mulval", tmp_path)
    text_file(tmp_path, "AttackGraph.xml", MULVAL_XML.replace("<arc><src>5</src><dst>6</dst></arc>", ""))
    with pytest.raises(InputError, match="4 arcs, not 5; name the files of the one that is meant"):
        import_graph("mulval", tmp_path)
    assert import_graph("mulval", tmp_path / "VERTICES.CSV").graph == agreeing.graph


MULVAL_PAIR = (
    """\
1,"execCode(db,root)","OR",0
2,"RULE 2 (remote exploit)","AND",0
3,"vulExists(db)","LEAF",1
4,"netAccess(db)","OR",0
5,"RULE 6 (direct access)","AND",0
6,"hacl(internet,db)","LEAF",1
""",
    "1,2\n2,3\n2,4\n4,5\n5,6\n",
)


COMPUTED = """\
1,"execCode(db,root)","OR",0.36
2,"RULE 2 (remote exploit of a server program)","AND",0.36
3,"netAccess(db,tcp,3306)","OR",0.4
4,"RULE 5 (multi-hop access)","AND",0.4
5,"hacl(web,db,tcp,3306)","LEAF",1
6,"execCode(web,www)","OR",0.8
7,"RULE 2 (remote exploit of a server program)","AND",0.8
8,"netAccess(web,tcp,80)","OR",1
9,"RULE 6 (direct network access)","AND",1
10,"hacl(internet,web,tcp,80)","LEAF",1
11,"attackerLocated(internet)","LEAF",1
12,"networkServiceInfo(web,httpd,tcp,80,www)","LEAF",1
13,"vulExists(web,'CVE-1',httpd,remoteExploit,privEscalation)","LEAF",1
14,"networkServiceInfo(db,mysqld,tcp,3306,root)","LEAF",1
15,"vulExists(db,'CVE-2',mysqld,remoteExploit,privEscalation)","LEAF",1
"""
COMPUTED_ARCS = "1,2\n2,3\n2,14\n2,15\n3,4\n4,5\n4,6\n6,7\n7,8\n7,12\n7,13\n8,9\n9,10\n9,11\n"


def chances(imported: Imported) -> dict[str, float]:
    return {exploit.references[0]: round(exploit.success, 6) for exploit in imported.graph.exploits}


def test_computed_metrics_are_cumulative_and_a_step_has_its_own_share(tmp_path: Path) -> None:
    imported = import_graph("mulval", pair(tmp_path, COMPUTED, COMPUTED_ARCS))
    assert chances(imported) == {"CVE-1": 0.8, "CVE-2": 0.9}  # not 0.36, the chance to get there at all
    said = notes(imported)
    assert "each is the chance to be reached from the start, not that of one attempt" in said
    assert "success 0.8 to 0.9 of 2 exploits (100%): from the computed metrics" in said
    assert "a way is open or not, and takes no attempt: RULE 5 (multi-hop access) 4" in said
    (last,) = (exploit for exploit in imported.graph.exploits if exploit.references[0] == "CVE-2")
    assert last.label == "remote exploit of a server program: mysqld at tcp/3306 on db (CVE-2) from web"


@pytest.mark.parametrize("seed", range(10))
def test_the_chance_of_an_attempt_is_found_again_in_metrics_made_from_it(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    rows, arcs = ['1,"attackerLocated(internet)","LEAF",1'], []
    reached, chances_made = {1: 1.0}, {}
    key = 1
    for host in range(8):  # each is entered from one place or two, by a vulnerability each
        fact, ways = key + 1, rng.randint(1, 2)
        key, missed = fact, 1.0
        for way in range(ways):
            before = rng.choice(list(reached))
            rule, flaw, chance = key + 1, key + 2, rng.choice([0.25, 0.5, 0.9, 1.0])
            key = flaw
            name = f"CVE-2020-{host}{way}"
            chances_made[name] = chance
            rows += [
                f'{rule},"RULE 2 (remote exploit)","AND",{chance * reached[before]}',
                f'{flaw},"vulExists(h{host},\'{name}\',httpd)","LEAF",1',
            ]
            arcs += [f"{fact},{rule},-1", f"{rule},{before},-1", f"{rule},{flaw},-1"]
            missed *= 1 - chance * reached[before]
        reached[fact] = 1 - missed
        rows.append(f'{fact},"execCode(h{host},root)","OR",{reached[fact]}')
    imported = import_graph("mulval", pair(tmp_path, "\n".join(rows), "\n".join(arcs)), merge=False)
    found = {exploit.references[0]: exploit.success for exploit in imported.graph.exploits}
    assert min(reached.values()) < 1  # so that the metrics are known to be computed
    assert len(found) >= 4
    assert found == pytest.approx({name: chances_made[name] for name in found})


@pytest.mark.parametrize(
    ("old", "new", "arcs", "said", "expected"),
    [
        # two ways to the data base's rule that both come from one exploit: their product is not their chance
        (
            "15,",
            '16,"principalCompromised(admin)","OR",0.7\n17,"RULE 12 (sniffing)","AND",0.7\n15,',
            "2,16\n16,17\n17,6\n",
            "premises depend on each other",
            {"CVE-1": 0.8, "CVE-2": 0.8, "RULE 12": 0.875},
        ),
        # the web server can be entered from the data base as well: metrics of graphs cut open
        ('"OR",0.8', '"OR",0.9', "6,18\n", "on a cycle", {"CVE-1": 0.8, "CVE-2": 0.8, "CVE-3": 0.8}),
        ('"OR",0.8', '"OR",0.7', "", "below that of a rule for them", {"CVE-1": 0.8, "CVE-2": 0.8}),
        ('"AND",0.36', '"AND",0.5', "", "below that of a rule for them", {"CVE-1": 0.8, "CVE-2": 0.8}),
        ('"AND",0.8', '"AND",0', "", "each is the chance to be reached", {"CVE-1": 0.8, "CVE-2": 0.9}),
        ('"OR",0.8', '"OR",0', "", "below that of a rule for them", {"CVE-1": 0.8, "CVE-2": 0.8}),
    ],
)
def test_a_share_that_does_not_follow_is_a_default_and_said_to_be(
    old: str, new: str, arcs: str, said: str, expected: dict[str, float], tmp_path: Path
) -> None:
    vertices = COMPUTED.replace(old, new, 1)
    if "18" in arcs:
        vertices += '18,"RULE 2 (remote exploit of a server program)","AND",0.3\n'
        vertices += '19,"vulExists(web,\'CVE-3\',sshd,remoteExploit,privEscalation)","LEAF",1\n'
        arcs += "18,1\n18,19\n"
    imported = import_graph("mulval", pair(tmp_path, vertices, COMPUTED_ARCS + arcs))
    assert chances(imported) == expected
    assert said in notes(imported)


def test_metrics_beyond_1_are_no_chances(tmp_path: Path) -> None:
    vertices = COMPUTED.replace('"OR",0.4', '"OR",4.0')
    imported = import_graph("mulval", pair(tmp_path, vertices, COMPUTED_ARCS))
    assert chances(imported) == {"CVE-1": 0.8, "CVE-2": 0.8}
    assert "metrics beyond 1 are no chances, so that none of the file's is used: 4.0" in notes(imported)


def test_what_only_denies_service_gives_no_control(tmp_path: Path) -> None:
    vertices = COMPUTED.replace("mysqld,remoteExploit,privEscalation", "mysqld,remoteExploit,dos")
    imported = import_graph("mulval", pair(tmp_path, vertices, COMPUTED_ARCS))
    assert {exploit.result for exploit in imported.graph.exploits} == {"execCode_web_www", "netAccess_db_tcp_3306"}
    assert "steps by a denial of service, which gives nobody control" in notes(imported)


def test_rules_of_firewalls_are_closed_by_their_port(tmp_path: Path) -> None:
    vertices = COMPUTED.replace("hacl(web,db,tcp,3306)", "firewallRule(web,dmz,db,lan,tcp,3306)")
    graph = import_graph("mulval", pair(tmp_path, vertices, COMPUTED_ARCS)).graph
    assert {control.label for control in graph.defences} >= {"close tcp/3306 from web to db"}
    assert all(control.lasts for control in graph.defences)
