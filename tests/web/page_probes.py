"""Functions that run in the browser and tell what it shows."""

from __future__ import annotations

__all__ = ["BEYOND", "DROPPED_FILE", "FAINT_TEXT", "LAYOUT_SHIFT", "NODE_PLACES"]

NODE_PLACES = """() => {
    const graph = document.getElementById("graph"), box = graph.getBoundingClientRect();
    return Object.fromEntries(graph._cyreg.cy.nodes().map((node) => {
        const { x, y } = node.renderedPosition();
        return [node.id(), { x: box.x + x, y: box.y + y }];
    }));
}"""

DROPPED_FILE = """(text) => {
    const dropped = new DataTransfer();
    dropped.items.add(new File([text], "dropped.yaml"));
    return dropped;
}"""

BEYOND = """(width) => [...document.querySelectorAll("body *")]
    .filter((e) => e.checkVisibility() && !e.closest(".scroll, .skip, svg, #graph"))
    .filter((e) => e.getBoundingClientRect().right > width + 1)
    .map((e) => e.id || e.className || e.tagName)"""

FAINT_TEXT = """(least) => {
    const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const rgba = (colour) => {
        canvas.clearRect(0, 0, 1, 1);
        canvas.fillStyle = colour;
        canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data];
    };
    const linear = (v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    const luminance = ([r, g, b]) => 0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
    const ground = (e) => {
        for (; e; e = e.parentElement) {
            const colour = rgba(getComputedStyle(e).backgroundColor);
            if (colour[3] === 255) return colour;
        }
        return [255, 255, 255];
    };
    const contrast = (e) => {
        const { fill, color } = getComputedStyle(e);
        const pair = [luminance(rgba(e instanceof SVGElement ? fill : color)), luminance(ground(e))];
        return (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
    };
    return [...document.querySelectorAll("body *")]
        .filter((e) => e.checkVisibility() && !e.closest(":disabled, [aria-disabled=true], .skip"))
        .filter((e) => [...e.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && n.textContent.trim()))
        .filter((e) => contrast(e) < least)
        .map((e) => `${e.tagName} ${e.textContent.slice(0, 30)} ${contrast(e).toFixed(2)}`);
}"""

LAYOUT_SHIFT = """() => new Promise((tell) => {
    let sum = 0;
    const add = (list) => list.getEntries().forEach((entry) => { sum += entry.value; });
    new PerformanceObserver(add).observe({ type: "layout-shift", buffered: true });
    requestAnimationFrame(() => requestAnimationFrame(() => tell(sum)));
})"""
