// Colours for the canvas. Blue, vermilion, purple and amber stay apart for every kind of colour vision, and nothing is
// told by colour alone: centres carry numbers, alternatives shapes, zones and forbidden regions different hatchings.

const LIGHT = {
  land: "#f6f4ee", sea: "#d9e4ea", border: "#b9b3a4", lesser: "#d8d3c6", label: "#6d6a60", halo: "#f6f4ee", graticule: "#c6d4dc",
  paper: "#ffffff", ink: "#17222b", soft: "#5c6b77", grid: "#e6ebee", ring: "#ffffff",
  point: "rgba(20, 98, 156, 0.72)", pointNegative: "rgba(82, 97, 109, 0.5)", centre: "#c8501a", onCentre: "#ffffff",
  region: "rgba(160, 62, 16, 0.62)", regionFill: "rgba(200, 80, 26, 0.10)", owner: "#7a2f8f",
  zone: "#8a5a00", zoneFill: "rgba(230, 159, 0, 0.16)", forbidden: "#39434b", forbiddenFill: "rgba(57, 67, 75, 0.12)",
  bounds: "rgba(40, 60, 75, 0.5)", draft: "#0f5f8c", road: "#ffffff", roadCase: "#d5d0c2", water: "#d9e4ea",
  ramp: [[222, 235, 242], [158, 202, 222], [84, 158, 199], [28, 98, 156], [12, 44, 92]], mosaicAlpha: 0.82, edge: "#8a4b00",
  sets: ["#00705a", "#a1367e", "#1c63a8", "#8a5a00", "#3d4a54", "#b03a12"],
};

const DARK = {
  land: "#28323b", sea: "#0e141a", border: "#4c5963", lesser: "#343f48", label: "#8f9ba5", halo: "#1e262d", graticule: "#1b252e",
  paper: "#1a2128", ink: "#e8edf1", soft: "#a3b1bd", grid: "#27313a", ring: "#12181d",
  point: "rgba(110, 190, 240, 0.72)", pointNegative: "rgba(163, 177, 189, 0.45)", centre: "#ff9558", onCentre: "#2a1104",
  region: "rgba(255, 160, 105, 0.6)", regionFill: "rgba(255, 149, 88, 0.13)", owner: "#dfa0f2",
  zone: "#f3bd6b", zoneFill: "rgba(243, 189, 107, 0.14)", forbidden: "#c3ced7", forbiddenFill: "rgba(195, 206, 215, 0.10)",
  bounds: "rgba(190, 205, 216, 0.45)", draft: "#7cc0ea", road: "#3c4853", roadCase: "#1e262d", water: "#0e141a",
  ramp: [[36, 56, 74], [38, 92, 128], [52, 140, 180], [126, 196, 222], [226, 246, 252]], mosaicAlpha: 0.85, edge: "#f3bd6b",
  sets: ["#45d0ae", "#f09ad2", "#8cc4ff", "#f3bd6b", "#c3ced7", "#ff9d7a"],
};

export const palette = (dark) => (dark ? DARK : LIGHT);

export const SHAPES = ["square", "triangle", "diamond", "down", "plus", "pentagon"];

/** Traces one of SHAPES around a place; the caller fills or strokes. */
export function trace(context, shape, x, y, r) {
  context.beginPath();
  if (shape === "plus") {
    const a = r * 0.38;
    const corners = [[-a, -r], [a, -r], [a, -a], [r, -a], [r, a], [a, a], [a, r], [-a, r], [-a, a], [-r, a], [-r, -a], [-a, -a]];
    corners.forEach(([dx, dy], i) => (i ? context.lineTo(x + dx, y + dy) : context.moveTo(x + dx, y + dy)));
  } else {
    const [sides, turn] = { square: [4, Math.PI / 4], triangle: [3, -Math.PI / 2], diamond: [4, 0], down: [3, Math.PI / 2], pentagon: [5, -Math.PI / 2] }[shape];
    for (let i = 0; i < sides; i += 1) {
      const angle = turn + (2 * Math.PI * i) / sides;
      context.lineTo(x + r * 1.15 * Math.cos(angle), y + r * 1.15 * Math.sin(angle));
    }
  }
  context.closePath();
}

/** The mark of an alternative as a small picture for lists and the legend. */
export function mark(index, dark) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 36;
  canvas.style.cssText = "width:18px;height:18px;flex:none";
  canvas.setAttribute("aria-hidden", "true");
  const context = canvas.getContext("2d");
  context.scale(2, 2);
  trace(context, SHAPES[index % SHAPES.length], 9, 9, 6.2);
  context.fillStyle = palette(dark).sets[index % SHAPES.length];
  context.fill();
  return canvas;
}
