// The attack graph in layers: conditions are boxes, exploits are pills between what they need and what they give.
import { called, listed, resolvedColour, share } from "./dom.js";

const NARROW = 600; // below this width the layers run downwards
const MOST_DRAWN = 500; // conditions and exploits; the layout of more takes too long to wait for
const DASHED_FROM = 0.05;
const DOUBLE_FROM = 0.5;
const NAMED_GOALS = 2;
const THINNEST_EDGE = 1.4;
const WIDEST_EDGE = 8;

const shortened = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** Let long names break after their hyphens and the like. */
const breakable = (text) => text.replace(/[-_/.:@]/g, "$&\u200b");

function look() {
  const colour = Object.fromEntries(
    ["paper", "ink", "muted", "line", "box", "start", "enabled", "goal", "block", "attempt"].map((name) => [name, resolvedColour(name)]),
  );
  return [
    { selector: "node", style: {
      label: "data(text)", color: colour.ink, "text-wrap": "wrap", "line-height": 1.1, "text-valign": "center", "text-halign": "center",
      "font-family": "system-ui, sans-serif", "border-color": colour.line, "border-width": 1 } },
    { selector: ".condition", style: {
      shape: "round-rectangle", width: 98, height: 80, "font-size": 13.5, "text-max-width": 94, "background-color": colour.box } },
    { selector: ".enabled", style: { "background-color": colour.enabled, "border-color": colour.goal, "border-width": 3, "font-weight": "bold" } },
    { selector: ".initial", style: { "background-color": colour.start, "border-color": colour.attempt } },
    { selector: ".new", style: { "border-width": 7, "border-style": "double" } },
    { selector: ".held", style: { "outline-color": colour.attempt, "outline-width": 4, "outline-offset": 2, "font-weight": "bold" } },
    { selector: ".exploit", style: {
      shape: "round-rectangle", "corner-radius": 22, width: 90, height: 84, "font-size": 12.5, "text-max-width": 86,
      "background-color": colour.block, "background-opacity": "data(redness)", "border-color": colour.muted } },
    { selector: ".some", style: { "border-style": "dashed", "border-color": colour.block, "border-width": 2 } },
    { selector: ".much", style: { "border-style": "double", "border-color": colour.block, "border-width": 5 } },
    { selector: ".idle", style: { opacity: 0.68 } },
    { selector: ".watched", style: { "border-style": "dashed", "border-color": colour.block, "border-width": 3, opacity: 1 } },
    { selector: ".folded", style: { "border-style": "dotted", "border-color": colour.muted, "background-color": colour.paper, "font-style": "italic", opacity: 1 } },
    { selector: ".exploit.folded", style: { width: 74, height: 44, color: colour.muted } },
    { selector: ".ticked", style: { "outline-color": colour.attempt, "outline-width": 4, "outline-offset": 2, "font-weight": "bold" } },
    { selector: "edge", style: {
      width: "data(width)", "line-color": colour.line, "target-arrow-color": colour.line, "curve-style": "bezier",
      "target-arrow-shape": "triangle", "arrow-scale": 0.8 } },
    { selector: "edge.tried", style: { "line-color": colour.attempt, "target-arrow-color": colour.attempt } },
    { selector: "edge.idle", style: { "line-style": "dashed" } },
  ];
}

function elements(graph) {
  const conditions = graph.conditions.map((c) => ({
    data: { id: `c:${c.id}`, condition: c.id, text: c.label }, classes: `condition${c.initial ? " initial" : ""}${c.folded ? " folded" : ""}` }));
  const exploits = graph.exploits.map((e) => ({
    data: { id: `e:${e.id}`, exploit: e.id, text: e.label, redness: 0 }, classes: `exploit${e.folded ? " folded" : ""}` }));
  const depth = Math.max(0, ...graph.exploits.map((e) => e.layer));
  const edges = graph.exploits.flatMap((e) => {
    const weight = 1 + 4 * (depth - e.layer); // short edges near the start: what can happen first stands first
    return [
      ...e.from.map((c) => ({ data: { source: `c:${c}`, target: `e:${e.id}`, width: THINNEST_EDGE, weight } })),
      { data: { source: `e:${e.id}`, target: `c:${e.to}`, width: THINNEST_EDGE, weight } },
    ];
  });
  return [...conditions, ...exploits, ...edges];
}

function goalLine(condition, intent) {
  const names = Object.keys(condition.rewards);
  if (!names.length) return "";
  if (intent) return intent in condition.rewards ? `\n★ ${condition.rewards[intent]}` : "";
  return `\n★ ${breakable(shortened(names.length > NAMED_GOALS ? `${names.length} intents` : names.join(", "), 17))}`;
}

/** A graph drawn in `container`; `onTick` hears of exploits that are clicked, `onHold` of conditions. */
export class GraphView {
  constructor(container, onTick, onHold) {
    this.container = container;
    this.onTick = onTick;
    this.onHold = onHold;
    this.graph = null;
    this.position = null;
    this.ready = Promise.all([import("./vendor/cytoscape-3.34.4.min.mjs"), import("./vendor/cytoscape-dagre-4.0.1.min.mjs")]).then(
      ([{ default: cytoscape }, { default: dagre }]) => {
        cytoscape.use(dagre);
        this.cy = cytoscape({
          container, style: look(), minZoom: 0.05, maxZoom: 2.5, boxSelectionEnabled: false, autoungrabify: true });
        this.cy.on("tap", ".exploit", (event) => this.onTick(event.target.data("exploit")));
        this.cy.on("tap", ".condition", (event) => this.onHold(event.target.data("condition")));
        this.cy.on("dbltap", () => this.arrange());
        new ResizeObserver(() => this.arrange()).observe(container);
      },
    );
  }

  static canDraw(graph) {
    return graph.conditions.length + graph.exploits.length <= MOST_DRAWN;
  }

  /** Draw a graph; `watched` are the exploits that a defence of a whole graph watches, null for a graph that is all there. */
  async show(graph, watched = null) {
    this.graph = graph;
    this.watched = new Set(watched ?? []);
    this.named = watched ? (thing) => thing.label : called;
    this.container.setAttribute("aria-busy", "true");
    await this.ready;
    if (this.graph !== graph) return;
    this.cy.elements().remove();
    this.cy.add(elements(graph));
    this.paint(this.position);
    this.arrange();
    this.container.setAttribute("aria-busy", "false");
  }

  arrange() {
    const { clientWidth, clientHeight } = this.container;
    if (!clientWidth || !clientHeight || !this.cy.elements().length) return;
    const narrow = clientWidth < NARROW;
    this.cy.resize();
    this.cy.userPanningEnabled(!narrow).userZoomingEnabled(!narrow); // a finger on a small screen scrolls the page
    this.cy.layout({
      name: "dagre", rankDir: narrow ? "TB" : "LR", nodeSep: 22, edgeSep: 8, rankSep: 20, fit: true, padding: 10, animate: false,
      edgeWeight: (edge) => edge.data("weight"),
    }).run();
    if (this.cy.zoom() > 1.4) {
      this.cy.zoom(1.4);
      this.cy.center();
    }
  }

  /**
   * Show where a play stands.
   *
   * `position`: enabled conditions, those that are `fresh`, probabilities `block` and `attempt` by exploit,
   * exploits that are `ticked`, conditions that are `held` where a solve is to begin, and the one `intent` whose goals count, or null for those of all.
   */
  paint(position) {
    this.position = position;
    if (!this.cy || !position || !this.graph) return;
    const enabled = new Set(position.enabled);
    this.cy.batch(() => {
      for (const c of this.graph.conditions) {
        const node = this.cy.getElementById(`c:${c.id}`);
        const lit = enabled.has(c.id);
        const held = position.held.includes(c.id);
        node.data("text", `${held ? "⚑\u00a0" : ""}${lit && !c.initial ? "✓\u00a0" : ""}${breakable(shortened(this.named(c), c.folded ? 48 : 26))}${goalLine(c, position.intent)}`);
        node.toggleClass("enabled", lit).toggleClass("new", position.fresh.includes(c.id)).toggleClass("held", held);
      }
      for (const e of this.graph.exploits) this.paintExploit(e, enabled);
    });
    this.container.setAttribute("aria-label", this.describe(position));
  }

  paintExploit(exploit, enabled) {
    const { block, attempt, ticked } = this.position;
    const usable = !exploit.folded && exploit.from.every((c) => enabled.has(c)) && !enabled.has(exploit.to);
    const [blocked, tried] = [block[exploit.id] ?? 0, attempt[exploit.id] ?? 0];
    const odds = usable && (exploit.id in block || exploit.id in attempt) ? `\n▣ ${share(blocked)}\n➤ ${share(tried)}` : "";
    const tick = ticked.includes(exploit.id) ? "☑ " : "";
    const node = this.cy.getElementById(`e:${exploit.id}`);
    node.data({ text: `${tick}${breakable(shortened(exploit.folded ? exploit.label : called(exploit), 24))}${odds}`, redness: usable ? 0.45 * blocked : 0 });
    node.toggleClass("idle", !usable).toggleClass("ticked", tick !== "").toggleClass("watched", this.watched.has(exploit.id));
    node.toggleClass("some", usable && blocked >= DASHED_FROM && blocked < DOUBLE_FROM);
    node.toggleClass("much", usable && blocked >= DOUBLE_FROM);
    node.connectedEdges().data("width", usable ? THINNEST_EDGE + WIDEST_EDGE * tried : THINNEST_EDGE)
      .toggleClass("tried", usable && tried > 0).toggleClass("idle", !usable);
  }

  describe(position) {
    const likely = Object.entries(position.block).filter(([, p]) => p >= DASHED_FROM).map(([id, p]) => `${id} ${share(p)}`);
    return `The attack graph. Fallen: ${listed(position.enabled)}. Likely to be blocked: ${listed(likely)}. The list below the graph says the same.`;
  }

  recolour() {
    this.cy?.style().fromJson(look()).update();
  }
}
