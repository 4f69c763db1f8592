"""Certificates that make whoever gets them somebody else: BloodHound's ADCSESC1, 3, 4 and GoldenCert, from the objects.

An authority counts for a domain d when its chain ends in a root that d trusts and d lets it authenticate (NTAuth):

    ca –(IssuedSignedBy|EnterpriseCAFor)*→ root –RootCAFor→ d   and   ca –TrustedForNTAuth→ store –NTAuthStoreFor→ d.

With E(x) those who may enroll at x and C(t) those who may change the template t, all published at the authority:

    ESC1  E(ca) ∩ E(t), where t authenticates, lets the enrollee name the subject, and asks nobody's approval
    ESC3  E(ca₁) ∩ E(t₁) ∩ E(ca) ∩ E(t₂), where t₁ makes an enrollment agent and t₂, which authenticates, takes its word
    ESC4  E(ca) ∩ C(t), or with GenericWrite or the right flags E(ca) ∩ E(t) ∩ W(t)
    GoldenCert  the computer that the authority runs on.

(Schroeder and Christensen, Certified Pre-Owned, 2021.)
"""

from collections.abc import Iterator, Mapping

from ncirl.importers.bloodhound_graph import Edge, Node, Right
from ncirl.importers.bloodhound_holders import Holders
from ncirl.importers.values import number, text, texts, truth

__all__ = ["certificate_edges"]

REQUEST_AGENT, ANY_PURPOSE = "1.3.6.1.4.1.311.20.2.1", "2.5.29.37.0"
ENROLLING = ("Enroll", "GenericAll", "AllExtendedRights")
CONTROLLING = ("Owns", "GenericAll", "WriteDacl", "WriteOwner")


def certificate_edges(nodes: Mapping[str, Node], known: Holders) -> Iterator[Edge]:
    """Yield the edges, each with the template or authority it goes by."""
    authorities = [node for node in nodes.values() if "EnterpriseCA" in node.kinds]
    domains = {ca.id: _domains(ca, nodes, known) for ca in authorities}
    published = {ca.id: [nodes[t] for t in known.of(ca.id, "PublishedTo") if t in nodes] for ca in authorities}
    for ca in authorities:
        for domain in domains[ca.id]:
            for computer in known.of(ca.id, "HostsCAService"):
                yield Edge("GoldenCert", computer, domain, by=(ca.id,))
            enrollers = known.right("", ca.id, "Enroll")
            for template in published[ca.id]:
                if _serves_esc1(template):
                    both = (enrollers, known.right("enroll", template.id, *ENROLLING))
                    for who in known.together(*both):
                        yield Edge("ADCSESC1", who, domain, by=(template.id,), takes=(both,))
                for rights in _esc4(template, enrollers, known):
                    for who in known.together(*rights):
                        yield Edge("ADCSESC4", who, domain, by=(template.id,), takes=(rights,))
                if _authenticates(template) and not _flag(template, "requiresmanagerapproval"):
                    yield from _esc3(template, ca, enrollers, published, domains, domain, nodes, known)


def _domains(ca: Node, nodes: Mapping[str, Node], known: Holders) -> list[str]:
    """Return the domains in which a certificate of an authority is believed."""
    trusted = _chained(ca, nodes, known)
    stores = {*known.from_.get(("TrustedForNTAuth", ca.id), ())}
    print_ = text(ca.properties.get("certthumbprint"))
    for node in nodes.values():
        if "NTAuthStore" in node.kinds and print_ and print_ in texts(node.properties.get("certthumbprints")):
            stores.add(node.id)
    allowed = {domain for store in stores for domain in known.from_.get(("NTAuthStoreFor", store), ())}
    return sorted(trusted & allowed)


def _chained(ca: Node, nodes: Mapping[str, Node], known: Holders) -> set[str]:
    """Return the domains whose root an authority's chain ends in."""
    roots, rest = {ca.id}, [ca.id]
    while rest:
        here = rest.pop()
        for kind in ("IssuedSignedBy", "EnterpriseCAFor"):
            for above in known.from_.get((kind, here), ()):
                if above not in roots:
                    roots.add(above)
                    rest.append(above)
    chain = {text(ca.properties.get("certthumbprint")), *texts(ca.properties.get("certchain"))} - {""}
    for node in nodes.values():
        if "RootCA" in node.kinds and text(node.properties.get("certthumbprint")) in chain:
            roots.add(node.id)
    return {domain for root in roots for domain in known.from_.get(("RootCAFor", root), ())}


def _serves_esc1(template: Node) -> bool:
    return (
        _authenticates(template)
        and _flag(template, "enrolleesuppliessubject")
        and not _flag(template, "requiresmanagerapproval")
        and _unsigned(template)
    )


def _esc4(template: Node, enrollers: Right, known: Holders) -> Iterator[tuple[Right, ...]]:
    """Yield the sets of rights that let change a template so that it serves, and enroll."""

    def change(*kinds: str) -> Right:
        return known.right("change", template.id, *kinds)

    yield enrollers, change(*CONTROLLING)
    users = known.right("enroll", template.id, "Enroll", "AllExtendedRights")
    yield enrollers, users, change("GenericWrite")
    if not (_authenticates(template) and _unsigned(template)):
        return
    naming, enrolling = change("WritePKINameFlag"), change("WritePKIEnrollmentFlag")
    yield enrollers, users, naming, enrolling
    if _flag(template, "enrolleesuppliessubject"):
        yield enrollers, users, enrolling
    if not _flag(template, "requiresmanagerapproval"):
        yield enrollers, users, naming


def _esc3(
    template: Node,
    ca: Node,
    enrollers: Right,
    published: Mapping[str, list[Node]],
    domains: Mapping[str, list[str]],
    domain: str,
    nodes: Mapping[str, Node],
    known: Holders,
) -> Iterator[Edge]:
    """Yield who can enroll for others by `template` with a certificate of an enrollment agent, by another."""
    for first, agents in published.items():
        if domain not in domains[first]:
            continue
        for agent in agents:
            if not _makes_an_agent(agent, template) or _flag(agent, "requiresmanagerapproval") or not _unsigned(agent):
                continue
            needed = [
                known.right("enroll", agent.id, *ENROLLING),
                known.right("enroll", template.id, *ENROLLING),
                known.right("", first, "Enroll"),
                enrollers,
            ]
            if _flag(ca, "hasenrollmentagentrestrictions"):
                needed.append(known.right("", template.id, "DelegatedEnrollmentAgent"))
            by_name = _flag(agent, "subjectaltrequiredns") or _flag(agent, "subjectaltrequiredomaindns")
            for who in known.together(*needed):
                if not (by_name and who in nodes and "User" in nodes[who].kinds):  # users have no name of that sort
                    yield Edge("ADCSESC3", who, domain, by=(agent.id, template.id), takes=(tuple(needed),))


def _makes_an_agent(agent: Node, template: Node) -> bool:
    """Tell whether a certificate of one template is taken as an agent's word by another."""
    told = agent.properties.get("effectiveekus", agent.properties.get("ekus"))
    if not isinstance(told, list):
        return False
    uses = texts(told)
    if (number(template.properties.get("schemaversion")) or 1) <= 1:
        return not uses or REQUEST_AGENT in uses or ANY_PURPOSE in uses
    signatures = number(template.properties.get("authorizedsignatures")) or 0
    asked = texts(template.properties.get("applicationpolicies"))
    is_agent = REQUEST_AGENT in uses and ANY_PURPOSE not in uses
    return agent.id != template.id and is_agent and signatures >= 1 and REQUEST_AGENT in asked


def _authenticates(template: Node) -> bool:
    return _flag(template, "authenticationenabled")


def _unsigned(template: Node) -> bool:
    """Tell whether nobody else has to sign a request; templates of the first version cannot ask for it."""
    version, signatures = (number(template.properties.get(key)) for key in ("schemaversion", "authorizedsignatures"))
    return not ((version or 0) > 1 and (signatures or 0) > 0)


def _flag(node: Node, name: str) -> bool:
    return bool(truth(node.properties.get(name)))
