"""One small valid graph and more for every format, by the names of their files."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

VERTICES = """\
1,"execCode(db,root)","OR",0
2,"RULE 2 (remote exploit of a server program)","AND",0
3,"netAccess(db,tcp,'3306')","OR",0
4,"RULE 5 (multi-hop access)","AND",0
5,"hacl(web,db,tcp,'3306')","LEAF",1
6,"execCode(web,www)","OR",0
7,"RULE 2 (remote exploit of a server program)","AND",0
8,"attackerLocated(internet)","LEAF",1
9,"vulExists(db,'CVE-1','x,y')","LEAF",1
"""
ARCS = "1,2,-1\n2,3,-1\n2,9,-1\n3,4,-1\n4,5,-1\n4,6,-1\n6,7,-1\n7,8,-1\n"
MULVAL_XML = """\
<attack_graph>
<arcs><arc><src>1</src><dst>2</dst></arc><arc><src>2</src><dst>3</dst></arc><arc><src>2</src><dst>4</dst></arc>
<arc><src>4</src><dst>5</dst></arc><arc><src>5</src><dst>6</dst></arc></arcs>
<vertices>
<vertex><id>1</id><fact>execCode(db,root)</fact><metric>0</metric><type>OR</type></vertex>
<vertex><id>2</id><fact>RULE 2 (remote exploit)</fact><metric>0</metric><type>AND</type></vertex>
<vertex><id>3</id><fact>vulExists(db)</fact><metric>1</metric><type>LEAF</type></vertex>
<vertex><id>4</id><fact>netAccess(db)</fact><metric>0</metric><type>OR</type></vertex>
<vertex><id>5</id><fact>RULE 6 (direct access)</fact><metric>0</metric><type>AND</type></vertex>
<vertex><id>6</id><fact>hacl(internet,db)</fact><metric>1</metric><type>LEAF</type></vertex>
</vertices>
</attack_graph>
"""
MULVAL_DOT = """\
digraph G {
	1 [label="1:execCode(db,root):0",shape=diamond];
	2 [label="2:RULE 2 (remote exploit):0",shape=ellipse];
	3 [label="3:vulExists(db,'a:b'):1",shape=box];
	4 [label="4:netAccess(db):0",shape=diamond];
	5 [label="5:RULE 6 (direct access):0",shape=ellipse];
	6 [label="6:hacl(internet,db):1",shape=box];
	2 -> 	1;
	3 -> 	2;
	4 -> 	2;
	5 -> 	4;
	6 -> 	5;
}
"""
MULVAL_HOSTS = """\
1,"execCode(web,user)","OR",0
2,"RULE 1 (remote exploit of a server program)","AND",0
3,"netAccess('10.0.0.2',tcp,80)","OR",0
4,"RULE 2 (multi-hop access)","AND",0
5,"hacl('10.0.0.1','10.0.0.2',tcp,80)","OR",0
6,"RULE 8 (Access enabled between hosts in same vlan)","AND",0
7,"isInVlan('10.0.0.1',dmz)","LEAF",1
8,"isInVlan('10.0.0.2',dmz)","LEAF",1
9,"hasIP(laptop,'10.0.0.1')","LEAF",1
10,"execCode(laptop,root)","OR",0
11,"RULE 3 (Attacker is root on his machine)","AND",0
12,"attackerLocated(laptop)","LEAF",1
13,"vulExists(web,'CVE-2007-2446',httpd,remoteExploit,privEscalation)","LEAF",1
14,"hasIP(web,'10.0.0.2')","LEAF",1
15,"cvss('CVE-2007-2446',m)","LEAF",1
16,"execCode(lab,root)","OR",0
17,"RULE 0 (local exploit)","AND",0
18,"execCode(lab,root)","OR",0
19,"vulExists(lab,'CVE-1999-0524',general,localExploit,privEscalation)","LEAF",1
"""
MULVAL_HOST_ARCS = (
    "1,2\n2,3\n2,13\n2,14\n2,15\n3,4\n4,5\n4,9\n4,10\n4,14\n5,6\n6,7\n6,8\n10,11\n11,12\n16,17\n17,18\n17,19\n"
)
GRAPHML = """\
<?xml version='1.0' encoding='utf-8'?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d0" for="node" attr.name="label" attr.type="string"/>
  <key id="d1" for="node" attr.name="initial" attr.type="boolean"/>
  <key id="d2" for="edge" attr.name="success_prob" attr.type="double"/>
  <key id="d3" for="edge" attr.name="success_prob" attr.type="long"/>
  <key id="d4" for="edge" attr.name="edge_type" attr.type="string"/>
  <graph edgedefault="directed">
    <node id="internet"><data key="d0">the internet</data><data key="d1">true</data></node>
    <node id="web"><data key="d0">web server</data></node>
    <node id="db"><data key="d0">data base</data></node>
    <edge source="internet" target="web"><data key="d2">0.5</data><data key="d4">REACHES</data></edge>
    <edge source="web" target="db"><data key="d3">1</data><data key="d4">REACHES</data></edge>
    <edge source="web" target="db"><data key="d4">CONTAINS</data></edge>
  </graph>
</graphml>
"""
NODE_LINK = """\
{"directed": true, "multigraph": false, "graph": {"name": "small"},
 "nodes": [{"id": "internet", "initial": true}, {"id": "web", "label": "web server"}, {"id": 3, "goal": true}],
 "links": [{"source": "internet", "target": "web", "success": 0.5, "attack_cost": 0.1},
           {"source": "web", "target": 3, "success": 0.25, "block_cost": 0.2}]}
"""
SCANNED = """\
{"directed": true, "multigraph": true, "graph": {},
 "nodes": [{"id": "web", "node_type": "container", "name": "web server", "host": "web.example", "exposed": true},
           {"id": "db", "node_type": "container", "name": "data base", "host": "db.example", "criticality_score": 9},
           {"id": "lab", "node_type": "container", "host": "lab.example"},
           {"id": "log4j@2.14", "node_type": "package", "name": "log4j"},
           {"id": "CVE-2021-44228", "node_type": "vulnerability", "cvss_score": 10.0, "severity": "critical"},
           {"id": "CVE-2020-1", "node_type": "vulnerability", "cvss": "CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:U/C:H/I:H/A:H"},
           {"id": "CVE-2020-2", "node_type": "vulnerability", "epss": 0.01}],
 "links": [{"source": "web", "target": "db", "edge_type": "COMMUNICATES_WITH", "protocol": "sql", "key": 0},
           {"source": "web", "target": "log4j@2.14", "edge_type": "CONTAINS", "key": 0},
           {"source": "log4j@2.14", "target": "CVE-2021-44228", "edge_type": "HAS_VULNERABILITY", "key": 0},
           {"source": "CVE-2020-1", "target": "db", "edge_type": "AFFECTS", "key": 0},
           {"source": "lab", "target": "CVE-2020-2", "edge_type": "HAS_VULNERABILITY", "key": 0}]}
"""
MAL = """\
{"attack_steps": {
 "A:in": {"id": 0, "type": "or", "ttc": null, "children": {"2": "A:hit"}, "parents": {}, "compromised_by": ["Eve"]},
 "A:shield": {"id": 1, "type": "defense", "ttc": null, "children": {"2": "A:hit"}, "defense_status": "0.0"},
 "A:hit": {"id": 2, "type": "and", "name": "hit", "children": {"3": "A:own"}, "is_viable": "True",
  "ttc": {"type": "function", "name": "HardAndUncertain", "arguments": []}},
 "A:own": {"id": 3, "type": "or", "children": {}, "ttc":
  {"type": "multiplication", "lhs": {"type": "function", "name": "Bernoulli", "arguments": [0.5]},
   "rhs": {"type": "function", "name": "Exponential", "arguments": [0.1]}}}},
 "attackers": {}}
"""
MAL_YAML = """\
attack_steps:
  A:in: {id: 0, type: or, ttc: null, children: {1: 'A:own'}, tags: [entrypoint]}
  A:there: {id: 2, type: exist, children: {1: 'A:own'}, existence_status: 'True'}
  A:mfa: {id: 3, type: defense, children: {1: 'A:own'}, tags: [suppress]}
  A:own: {id: 1, type: and, ttc: {type: function, name: Exponential, arguments: [0.1]}, children: {4: 'B:read'}}
  B:read: {id: 4, type: or, ttc: null, children: {5: 'B:leak'}, tags: [hidden]}
  B:leak: {id: 5, type: or, ttc: EasyAndCertain, children: {}, mitre_info: T1005}
  C:far: {id: 6, type: or, ttc: null, children: {5: 'B:leak'}}
"""
MAL_LIST = """\
[{"id": "attacker:0:firstSteps", "type": "or", "name": "firstSteps", "ttc": null, "children": ["host:1:connect"]},
 {"id": "host:1:connect", "type": "or", "name": "connect", "ttc": null, "children": [], "parents": null}]
"""
FLOW = """\
{"type": "bundle", "id": "bundle--1", "spec_version": "2.1", "objects": [
 {"type": "attack-flow", "id": "attack-flow--1", "name": "small", "start_refs": ["attack-action--1"]},
 {"type": "attack-action", "id": "attack-action--1", "name": "Phishing", "technique_id": "T1566", "confidence": 80,
  "effect_refs": ["attack-operator--1"]},
 {"type": "attack-action", "id": "attack-action--2", "name": "Scan", "effect_refs": ["attack-operator--1"]},
 {"type": "attack-operator", "id": "attack-operator--1", "operator": "AND", "effect_refs": ["attack-condition--1"]},
 {"type": "attack-condition", "id": "attack-condition--1", "description": "mailbox read",
  "on_true_refs": ["attack-action--3"], "on_false_refs": ["attack-action--4"]},
 {"type": "attack-action", "id": "attack-action--4", "description": "tries again"},
 {"type": "attack-action", "id": "attack-action--3", "name": "Exfiltration", "technique_id": "T1041",
  "asset_refs": ["attack-asset--1"]},
 {"type": "attack-asset", "id": "attack-asset--1", "name": "mail server"},
 {"type": "attack-asset", "id": "attack-asset--2", "name": "old laptop"},
 {"type": "vulnerability", "id": "vulnerability--1", "name": "CVE-2019-2729"},
 {"type": "course-of-action", "id": "course-of-action--1", "name": "Patch the mail server"},
 {"type": "relationship", "id": "relationship--1", "source_ref": "attack-action--3", "target_ref": "vulnerability--1"},
 {"type": "relationship", "id": "relationship--2", "source_ref": "course-of-action--1",
  "target_ref": "vulnerability--1"}]}
"""
OPENGRAPH = """\
{"metadata": {"source_kind": "Base"}, "graph": {
 "nodes": [{"id": "u1", "kinds": ["User"], "properties": {"name": "ALICE@LAB", "owned": true}},
           {"id": "c1", "kinds": ["Computer"], "properties": {"name": "WS"}},
           {"id": "g1", "kinds": ["Group", "Tag_Tier_Zero"], "properties": {"name": "ADMINS@LAB"}}],
 "edges": [{"kind": "AdminTo", "start": {"value": "u1"}, "end": {"match_by": "name", "value": "WS", "kind": "Computer"},
            "properties": {"success_prob": 0.5}},
           {"kind": "Reads", "start": {"value": "c1"}, "end": {"value": "g1"}, "properties": {"traversable": true}},
           {"kind": "Knows", "start": {"value": "u1"}, "end": {"value": "elsewhere"}}]}}
"""
USERS = """\
{"data": [{"ObjectIdentifier": "S-1-5-21-1-2-3-1105", "Properties": {"name": "ALICE@LAB", "owned": true},
  "PrimaryGroupSID": "S-1-5-21-1-2-3-513", "Aces": [], "HasSIDHistory": [], "AllowedToDelegate": [], "SpnTargets": []}],
 "meta": {"methods": 1, "type": "users", "count": 9, "version": 6}}
"""
GROUPS = """\
{"meta": {"type": "groups"}, "data": [
 {"ObjectIdentifier": "S-1-5-21-1-2-3-513", "Properties": {"name": "DOMAIN USERS@LAB"}, "Members": [], "Aces": []},
 {"ObjectIdentifier": "S-1-5-21-1-2-3-512", "Properties": {"name": "DOMAIN ADMINS@LAB"}, "Members": [],
  "Aces": [{"PrincipalSID": "S-1-5-21-1-2-3-513", "RightName": "GenericAll", "IsInherited": false}]}]}
"""
NASIM = """\
subnets: [1, 2]
topology: [[1, 1, 0], [1, 1, 1], [0, 1, 1]]
sensitive_hosts: {"(2, 0)": 100}
os: [linux]
services: [ssh, http]
processes: [tomcat]
exploits:
  e_http: {service: http, os: None, prob: 0.9, cost: 2, access: user}
  e_ssh: {service: ssh, os: linux, prob: 0.6, cost: 1, access: user}
privilege_escalation:
  pe: {process: tomcat, os: linux, prob: 1.0, cost: 1, access: root}
service_scan_cost: 1
host_configurations:
  (1, 0): {os: linux, services: [http], processes: []}
  (2, 0): {os: linux, services: [ssh], processes: [tomcat]}
  (2, 1): {os: linux, services: [ssh], processes: [], value: -10}
firewall:
  (0, 1): [http]
  (1, 0): []
  (1, 2): [ssh]
  (2, 1): []
"""

LINES = """\
{"type":"node","id":"0","labels":["Base","User"],"properties":{"name":"ANN@LAB","objectid":"S-1","owned":true}}
{"type":"node","id":"1","labels":["Base","Group"],"properties":{"name":"HELP@LAB","objectid":"S-2"}}
{"type":"node","id":"2","labels":["Base","Domain"],"properties":{"name":"LAB","objectid":"S-3","highvalue":true}}
{"type":"relationship","id":"r0","label":"MemberOf","properties":{},"start":{"id":"0"},"end":{"id":"1"}}
{"type":"relationship","id":"r1","label":"GetChanges","start":{"id":"1","labels":["Group"]},"end":{"id":"2"}}
{"type":"relationship","id":"r2","label":"GetChangesAll","start":{"id":"1"},"end":{"id":"2"}}
"""
AUTHORITY = """\
{"graph": {"nodes": [
 {"id": "u", "kinds": ["User"], "properties": {"owned": true}},
 {"id": "d", "kinds": ["Domain"], "properties": {"name": "LAB"}},
 {"id": "ca", "kinds": ["EnterpriseCA"], "properties": {"certthumbprint": "F0", "certchain": ["F0", "BA"]}},
 {"id": "root", "kinds": ["RootCA"], "properties": {"certthumbprint": "BA"}},
 {"id": "store", "kinds": ["NTAuthStore"], "properties": {"certthumbprints": ["F0"]}},
 {"id": "t", "kinds": ["CertTemplate"], "properties": {"name": "WEB", "authenticationenabled": true, "schemaversion": 1,
  "enrolleesuppliessubject": true, "requiresmanagerapproval": false, "authorizedsignatures": 0, "effectiveekus": []}}],
 "edges": [
 {"kind": "RootCAFor", "start": {"value": "root"}, "end": {"value": "d"}},
 {"kind": "NTAuthStoreFor", "start": {"value": "store"}, "end": {"value": "d"}},
 {"kind": "PublishedTo", "start": {"value": "t"}, "end": {"value": "ca"}},
 {"kind": "Enroll", "start": {"value": "u"}, "end": {"value": "ca"}},
 {"kind": "Enroll", "start": {"value": "u"}, "end": {"value": "t"}}]}}
"""


def archived(files: Mapping[str, str]) -> bytes:
    """Return a zip archive of some files, the same bytes each time."""
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(zipfile.ZipInfo(name), text)
    return raw.getvalue()


SAMPLES: dict[str, list[Mapping[str, bytes]]] = {  # by importer; the first is used where one is enough
    "mulval": [
        {"VERTICES.CSV": VERTICES.encode(), "ARCS.CSV": ARCS.encode()},
        {"VERTICES.CSV": MULVAL_HOSTS.encode(), "ARCS.CSV": MULVAL_HOST_ARCS.encode()},
        {"AttackGraph.xml": MULVAL_XML.encode()},
        {"AttackGraph.dot": MULVAL_DOT.encode()},
    ],
    "graphml": [{"graph.graphml": GRAPHML.encode()}],
    "node-link": [{"graph.json": NODE_LINK.encode()}, {"scan.json": SCANNED.encode()}],
    "mal": [{"steps.json": MAL.encode()}, {"steps.yml": MAL_YAML.encode()}, {"list.json": MAL_LIST.encode()}],
    "attack-flow": [{"flow.json": FLOW.encode()}],
    "bloodhound": [
        {"graph.json": OPENGRAPH.encode()},
        {"users.json": USERS.encode(), "groups.json": b"\xef\xbb\xbf" + GROUPS.encode()},
        {"export.jsonl": LINES.encode()},
        {"authority.json": AUTHORITY.encode()},
        {"collected.zip": archived({"users.json": USERS, "groups.json": GROUPS})},
    ],
    "nasim": [{"scenario.yaml": NASIM.encode()}],
}
