// What a reader does with a published page: move the map, and ask which centre is nearest to a place. Nothing is sent.
(() => {
  const MOST_ZOOM = 40;
  const METRES = 111320; // of a degree of latitude
  const root = document.querySelector(".covey");
  const map = root.querySelector("svg.map");
  const { width, height } = map.viewBox.baseVal;
  const [west, south, east, north] = map.dataset.frame.split(" ").map(Number);
  const moving = map.querySelector(".moving");
  const pins = [...map.querySelectorAll(".pinned > *")].map((element) => ({ element, at: placeOf(element) }));
  const data = JSON.parse(root.querySelector("script.data")?.textContent ?? "null");
  const bar = map.querySelector(".scale");
  const edges = [...map.querySelectorAll(".edge")].map((element) => ({ element, text: element.textContent, at: ["x", "y"].map((name) => Number(element.getAttribute(name))) }));
  let [zoom, left, top] = [1, 0, 0]; // what is at (x, y) of the picture is drawn at (left + zoom x, top + zoom y)
  let you = null; // {at, way}: the mark of the place that was asked for, and the line to its centre

  function placeOf(element) {
    const { e, f } = element.transform.baseVal.consolidate().matrix;
    return [e, f];
  }

  function svg(tag, attributes, parent) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    parent.append(element);
    return element;
  }

  const clamp = (value, low, high) => Math.max(low, Math.min(high, value));

  // --- the view ---

  function show() {
    const unit = width / (map.clientWidth || width); // of the picture, in pixels: marks and letters keep their size
    left = clamp(left, width * (1 - zoom), 0);
    top = clamp(top, height * (1 - zoom), 0);
    map.style.setProperty("--unit", unit);
    map.style.touchAction = zoom > 1 ? "none" : "pan-y";
    map.setAttribute("class", `map zoom${[4, 2, 1, 0].find((least) => zoom >= 0.9 * least * unit)}`);
    map.dataset.zoom = zoom.toFixed(2);
    moving.setAttribute("transform", `translate(${left} ${top}) scale(${zoom})`);
    for (const { element, at } of you ? [...pins, you.pin] : pins) {
      element.setAttribute("transform", `translate(${left + zoom * at[0]} ${top + zoom * at[1]}) scale(${unit})`);
    }
    if (bar) drawBar(unit);
    edges.forEach((edge, i) => tellEdge(edge, i, unit));
  }

  /** The ends of the view: west, east, north and south, as they stand in the picture. */
  function tellEdge({ element, text, at }, i, unit) {
    element.setAttribute("x", at[0] < width / 2 ? at[0] * unit : width - (width - at[0]) * unit);
    element.setAttribute("y", at[1] < height / 2 ? at[1] * unit : height - (height - at[1]) * unit);
    const [from, to] = i < 2 ? [west, east] : [north, south];
    const part = i < 2 ? [-left / zoom / width, (width - left) / zoom / width] : [-top / zoom / height, (height - top) / zoom / height];
    const digits = clamp(4 - Math.floor(Math.log10(Math.abs(to - from) / zoom)), 0, 12);
    const name = text.slice(0, text.lastIndexOf(" ") + 1);
    element.textContent = zoom > 1 ? name + (from + part[i % 2] * (to - from)).toFixed(digits) : text;
  }

  function drawBar(unit) {
    const metres = Number(bar.dataset.metres) / zoom;
    const power = 10 ** Math.floor(Math.log10(130 * unit * metres));
    const long = power * [5, 2, 1].find((each) => each * power <= 130 * unit * metres);
    const down = height - 26 * unit;
    bar.querySelector("path").setAttribute("d", `M${width - 14 * unit} ${down - 6 * unit}v${6 * unit}h${-long / metres}v${-6 * unit}`);
    const words = bar.querySelector("text");
    words.setAttribute("x", width - 18 * unit);
    words.setAttribute("y", down - 6 * unit);
    words.textContent = distance(long);
  }

  function zoomTo(wanted, x = width / 2, y = height / 2) {
    const next = clamp(wanted, 1, MOST_ZOOM);
    [left, top] = [x - ((x - left) * next) / zoom, y - ((y - top) * next) / zoom];
    zoom = next;
    show();
  }

  function move(dx, dy) {
    [left, top] = [left + dx, top + dy];
    show();
  }

  /** Where a pointer is, in units of the picture. */
  function pointed({ clientX, clientY }) {
    const frame = map.getBoundingClientRect();
    return [((clientX - frame.left) / frame.width) * width, ((clientY - frame.top) / frame.height) * height];
  }

  function startMoving() {
    let held = null; // {from, moved}
    map.addEventListener("pointerdown", (event) => {
      held = { from: pointed(event), moved: false };
      if (zoom > 1) map.setPointerCapture(event.pointerId);
    });
    map.addEventListener("pointermove", (event) => {
      if (!held) return;
      const [x, y] = pointed(event);
      if (Math.hypot(x - held.from[0], y - held.from[1]) < (held.moved ? 0 : 6)) return;
      move(x - held.from[0], y - held.from[1]);
      held = { from: [x, y], moved: true };
    });
    map.addEventListener("pointercancel", () => { held = null; });
    map.addEventListener("pointerup", (event) => {
      if (held && !held.moved) clicked(pointed(event));
      held = null;
    });
    map.addEventListener("dblclick", (event) => zoomTo(zoom * 2, ...pointed(event)));
    map.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return; // the page scrolls on; a pinch on a trackpad says ctrl
      event.preventDefault();
      zoomTo(zoom * 2 ** (-event.deltaY / 240), ...pointed(event));
    }, { passive: false });
    map.addEventListener("keydown", (event) => {
      const step = 60;
      const keys = {
        ArrowLeft: () => move(step, 0), ArrowRight: () => move(-step, 0), ArrowUp: () => move(0, step), ArrowDown: () => move(0, -step),
        "+": () => zoomTo(zoom * 1.6), "=": () => zoomTo(zoom * 1.6), "-": () => zoomTo(zoom / 1.6), 0: () => zoomTo(1),
        Enter: () => clicked([width / 2, height / 2]),
      };
      if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      keys[event.key]();
    });
    map.setAttribute("tabindex", "0");
    map.setAttribute("role", "application");
    map.setAttribute("aria-label", `${map.getAttribute("aria-label")}. Arrow keys move it, plus and minus zoom, 0 shows all, Enter asks about its middle.`);
    const tools = document.createElement("div");
    tools.className = "tools";
    for (const [sign, words, act] of [["+", "Zoom in", () => zoomTo(zoom * 1.6)], ["−", "Zoom out", () => zoomTo(zoom / 1.6)], ["⤢", "Show all", () => zoomTo(1)]]) {
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: sign, title: words });
      button.setAttribute("aria-label", words);
      button.addEventListener("click", act);
      tools.append(button);
    }
    map.after(tools);
    new ResizeObserver(show).observe(map);
  }

  // --- which centre is mine? ---

  const distance = (metres) => (metres < 1000 ? `${Number(metres.toPrecision(2))} m` : `${Number((metres / 1000).toPrecision(2))} km`);
  const form = root.querySelector(".mine form");
  const fields = form ? [...form.querySelectorAll("input")] : [];
  const say = (words) => { root.querySelector(".answer").textContent = words; };

  /** A place as the fit saw it: moved into the bounds, in the units that distances are measured in. */
  function measured(place) {
    const middle = data.lower.map((low, i) => low / 2 + data.upper[i] / 2);
    if (!data.ball) return place.map((value, i) => (clamp(value, data.lower[i], data.upper[i]) - middle[i]) / data.half[i]);
    const scaled = place.map((value, i) => (value - middle[i]) / data.half[i]);
    const far = Math.max(1, Math.hypot(...scaled));
    return scaled.map((value) => value / far);
  }

  /** Every centre with its distance, the nearest first; of equal ones the first. */
  function nearest(place) {
    const here = measured(place);
    const middle = data.lower.map((low, i) => low / 2 + data.upper[i] / 2);
    const far = data.centres.map((centre, index) => ({ index, far: Math.hypot(...centre.map((value, i) => (value - middle[i]) / data.half[i] - here[i])) }));
    return far.sort((a, b) => a.far - b.far || a.index - b.index);
  }

  function metres(a, b) {
    const [x, y] = data.axes;
    return METRES * Math.hypot((a[x] - b[x]) * Math.cos((a[y] * Math.PI) / 180), a[y] - b[y]);
  }

  const onPicture = (place) => {
    const [x, y] = [place[data.axes[0]], data.axes[1] === null ? 0 : place[data.axes[1]]];
    return [((x - west) / (east - west)) * width, ((north - y) / (north - south)) * height];
  };

  function answer(place) {
    const [first, second] = nearest(place);
    const label = (each) => `centre ${data.labels[each.index]}`;
    const flat = data.geographic && data.centres[0].length === 2;
    const away = (each) => (flat ? metres(place, data.centres[each.index]) : null);
    const words = [`You are nearest to ${label(first)}${flat ? `, ${distance(away(first))} away` : ""}.`];
    if (data.sizes) words.push(`About ${data.sizes[first.index]} ${data.rows} are nearest to it.`);
    if (data.doubtful[first.index]) words.push("It may be only noise.");
    if (second) {
      const lost = data.unplaced[first.index] ? first : data.unplaced[second.index] ? second : null;
      const reach = flat && data.radii ? data.radii[first.index] + data.radii[second.index] : 0;
      if (lost) words.push(`Next: ${label(second)}${flat ? `, ${distance(away(second))}` : ""}. The place of ${label(lost)} is not determined, so which is nearer is left open.`);
      else if (flat && away(second) - away(first) < reach) words.push(`The noise in their places leaves open whether ${label(second)}, ${distance(away(second))} away, is nearer.`);
      else words.push(`Next: ${label(second)}${flat ? `, ${distance(away(second))}` : ""}.`);
    }
    const outside = (values) => values.some((value, i) => value < data.lower[i] || value > data.upper[i]);
    if (outside(place)) {
      words.push("This place is outside the map: rows there were counted at its edge.");
      if (place.length === 2 && !outside([place[1], place[0]])) words.push("Are the two numbers exchanged?");
    }
    mark(place, first.index);
    say(words.join(" "));
  }

  function mark(place, index) {
    for (const each of root.querySelectorAll(".region.mine, tr.mine")) each.classList.remove("mine");
    map.querySelector(`.region[data-centre="${index}"]`)?.classList.add("mine");
    root.querySelector(`tr[data-centre="${index}"]`)?.classList.add("mine");
    you?.pin.element.remove();
    you?.way.remove();
    const [at, to] = [onPicture(place), onPicture(data.centres[index])];
    const pin = svg("g", { class: "you", transform: "translate(0 0)" }, map.querySelector(".pinned"));
    svg("circle", { r: 7 }, pin);
    you = { pin: { element: pin, at }, way: svg("path", { class: "way", d: `M${at}L${to}` }, moving) };
    map.dataset.mine = index;
    show();
  }

  function asked() {
    const typed = fields.map((field) => field.value.trim());
    const several = typed[0].match(/[-+]?\d+(?:\.\d+)?/g) ?? [];
    if (fields.length === 2 && several.length === 2 && !typed[1]) fields.forEach((field, i) => { field.value = several[i]; });
    const place = fields.map((field) => (field.value.trim() ? Number(field.value.trim().replace(/^(-?\d+),(\d+)$/, "$1.$2")) : NaN));
    const missing = place.findIndex((value) => !Number.isFinite(value));
    if (missing < 0) answer(place);
    else {
      say(`Give a number for ${fields[missing].parentElement.firstChild.textContent}.`);
      fields[missing].focus();
    }
  }

  function clicked([x, y]) {
    if (!form || data.axes[1] === null) return;
    const spot = [west + ((x - left) / zoom / width) * (east - west), north - ((y - top) / zoom / height) * (north - south)];
    put(spot);
  }

  /** A place of the map into its two fields; other columns stay as they were typed. */
  function put(spot) {
    data.axes.forEach((axis, i) => {
      const digits = Math.max(0, 5 - Math.floor(Math.log10(data.upper[axis] - data.lower[axis])));
      fields[axis].value = spot[i].toFixed(Math.min(12, digits));
    });
    if (fields.every((field) => field.value.trim())) asked();
    else say("Now type the other values.");
  }

  function startAsking() {
    root.querySelector(".mine").hidden = false;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      asked();
    });
    const here = form.querySelector(".here");
    here.hidden = !(data.geographic && isSecureContext && navigator.geolocation);
    here.addEventListener("click", () => {
      say("Asking this device where it is…");
      navigator.geolocation.getCurrentPosition(({ coords }) => put([coords.longitude, coords.latitude]),
        () => say("This browser does not tell where you are; click the map instead."));
    });
  }

  startMoving();
  if (form && data) startAsking();
  show();
  root.dataset.ready = "";
})();
