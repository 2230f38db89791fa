// What all charts share: a Bokeh figure without its toolbar, one span of time, buttons for the keyboard.

const FONT = "system-ui, sans-serif";
const INK = "#222222";
const dragging = matchMedia("(pointer: fine)").matches;  // on a touch screen a drag scrolls the page

const LETTERING = {
  axis_label_text_font: FONT, axis_label_text_font_style: "normal", axis_label_text_color: INK,
  axis_label_text_font_size: "13px", major_label_text_font: FONT, major_label_text_color: INK,
  major_label_text_font_size: "12px", axis_line_color: "#666666", major_tick_line_color: "#666666",
  minor_tick_line_color: null,
};

function figure(place, settings) {
  const { height, y_axis_label, ...rest } = settings;
  const plot = new Bokeh.Plotting.Figure({
    height, sizing_mode: "stretch_width", min_width: 200, toolbar_location: null, min_border_left: 76, min_border_right: 12,
    tools: "", output_backend: "canvas", background_fill_color: "white", outline_line_color: null, ...rest,
  });
  for (const axis of plot.axes) axis.setv(LETTERING);
  for (const grid of plot.grids) grid.grid_line_color = "#e4e4e4";
  if (y_axis_label) plot.yaxes[0].axis_label = y_axis_label;
  plot.place = typeof place === "string" ? document.querySelector(place) : place;
  Bokeh.Plotting.show(plot, plot.place).then((view) => views.push([plot, view]));
  return plot;
}

// On paper a chart is a picture of itself, drawn as wide as a page is: Bokeh would follow too late for the printer.
const views = [];
const PAPER = 720;
addEventListener("beforeprint", () => {
  for (const [plot, view] of views) {
    const wide = (width) => {
      plot.place.style.width = width;
      plot.fit?.();
      view.compute_layout();
    };
    wide(`${plot.place.parentElement.matches(".pair") ? PAPER / 2 : PAPER}px`);
    const { canvas } = view.export("png");
    wide("");
    canvas.removeAttribute("style");
    plot.place.append(canvas);
  }
});
addEventListener("resize", later(() => views.forEach(([plot]) => plot.fit?.()), 200));
addEventListener("afterprint", () => document.querySelectorAll(".chart > canvas").forEach((picture) => picture.remove()));

// Time: every figure of it shows the same span, counted in seconds after the first submission; the figures
// have it in milliseconds, each with a range of its own, for Bokeh shares none between separate charts.
class Time {
  constructor([first, last]) {
    const margin = (last - first) * 0.01;
    Object.assign(this, { first: first - margin, last: last + margin, ranges: [], listeners: [] });
    this.span = [this.first, this.last];
    this.changed = later(() => this.listeners.forEach((listener) => listener()), 60);
  }

  show(first, last) {
    const wide = Math.min(Math.max(last - first, 10), this.last - this.first);
    const start = Math.min(Math.max((first + last - wide) / 2, this.first), this.last - wide);
    this.span = [start, start + wide];
    this.setting = true;
    for (const range of this.ranges) range.setv({ start: start * 1000, end: (start + wide) * 1000 });
    this.setting = false;
    this.changed();
  }

  range() {
    const [start, end] = this.span.map((second) => second * 1000);
    const range = new Bokeh.Range1d({ start, end });
    const follow = () => this.setting || this.show(range.start / 1000, range.end / 1000);
    range.properties.end.change.connect(follow);
    range.properties.start.change.connect(follow);
    this.ranges.push(range);
    return range;
  }

  zoom(factor) {
    const [first, last] = this.span;
    const [middle, half] = [(first + last) / 2, ((last - first) / 2) * factor];
    this.show(middle - half, middle + half);
  }

  move(share) {
    const [first, last] = this.span;
    const step = (last - first) * share;
    if (first + step < this.first) this.show(this.first, this.first + last - first);
    else if (last + step > this.last) this.show(this.last - last + first, this.last);
    else this.show(first + step, last + step);
  }

  figure(place, settings) {
    const plot = figure(place, { x_range: this.range(), ...settings, height: settings.height + (dated() ? SECOND_AXIS : 0) });
    const most = (wide) => Math.max(Math.floor((plot.place.clientWidth - 88) / wide), 2);  // marks that are so many pixels apart
    const since = (axis) => write(axis, (low, high) => timeTicks(low, high, most(85)), (tick, ticks) => tickText(tick / 1000, ticks));
    if (dated()) {  // dates at the marks, and below them the time since the first submission
      write(plot.xaxes[0], (low, high) => dateTicks(low, high, most(60)), dateText);
      const below = new Bokeh.LinearAxis({ ...LETTERING, axis_line_color: null, major_tick_line_color: null, major_label_text_color: "#555555", major_label_standoff: -4 });
      since(below);
      plot.add_layout(below, "below");
    } else since(plot.xaxes[0]);
    plot.xgrids[0].ticker = plot.xaxes[0].ticker;
    plot.add_tools(new Bokeh.WheelZoomTool({ dimensions: "width", modifiers: { ctrl: true } }));
    if (dragging) {
      const drag = new Bokeh.BoxZoomTool({ dimensions: "width" });
      plot.add_tools(drag);
      plot.toolbar.active_drag = drag;
    }
    return plot;
  }

  controls(...more) {
    const shown = make("output", { "aria-live": "polite" });
    const tell = () => {
      const ends = this.span.map((end) => Math.min(Math.max(end, 0), data.span[1]));
      const dates = dated() ? ` (${ends.map((end) => calendar(end).slice(0, 16)).join(" to ")} UTC)` : "";
      shown.textContent = `Shown: ${ends.map(clock).join(" to ")}${dates}`;
    };
    this.listeners.push(tell);
    tell();
    return [
      button("Zoom in", () => this.zoom(0.5)), button("Zoom out", () => this.zoom(2)),
      button("Earlier", () => this.move(-0.5)), button("Later", () => this.move(0.5)),
      button("Whole run", () => this.show(this.first, this.last)), ...more, shown,
    ];
  }
}

// Give an axis ticks and texts of our own: Bokeh's ways to do so evaluate text, which the page forbids.
function write(axis, ticksOf, textOf) {
  axis.setv({ ticker: new Bokeh.BasicTicker(), formatter: new Bokeh.BasicTickFormatter() });
  axis.ticker.get_ticks = (low, high) => ({ major: ticksOf(low, high), minor: [] });
  axis.formatter.doFormat = (ticks) => ticks.map((tick) => textOf(tick, ticks));
}

// How words at a mark are written.
const WORDS = { text_font: FONT, text_font_size: "12px", text_color: INK, text_baseline: "middle" };

function narrow() {
  return document.querySelector("main").clientWidth < 600;
}

const LONGEST_NAME = 18;  // signs, where the screen is narrow

// Call the rows of a chart by their names, the first one on top; where the screen is narrow, by shorter ones.
function namedRows(plot, names, shorter = (name) => `${name.slice(0, LONGEST_NAME - 1)}…`) {
  const cut = (name) => (narrow() && name.length > LONGEST_NAME ? shorter(name) : name);
  write(plot.yaxes[0], () => names.map((_, row) => names.length - row), (tick) => cut(names[names.length - tick]));
  plot.ygrids[0].grid_line_color = null;
}

// Marks of a logarithmic axis of spans of time, s.
const SPAN_MARKS = [[1, "1 s"], [10, "10 s"], [60, "1 min"], [600, "10 min"], [3600, "1 h"], [21600, "6 h"],
  [DAY, "1 d"], [10 * DAY, "10 d"], [100 * DAY, "100 d"], [1000 * DAY, "1,000 d"]];

// Mark a logarithmic axis at [value, text] pairs: 1 first, then one of each unit, then all that stand 60 pixels apart.
function marked(plot, marks) {
  const kept = () => {
    const low = Math.log(plot.x_range.start), high = Math.log(plot.x_range.end);
    const place = (mark) => ((Math.log(mark) - low) / (high - low)) * (plot.place.clientWidth - 90);
    const far = [], rank = ([mark, text]) => (mark === 1 ? 0 : /^1 [a-z]/.test(text) ? 1 : 2);
    for (const [mark] of [...marks].sort((a, b) => rank(a) - rank(b))) {
      if (far.every((other) => Math.abs(place(other) - place(mark)) >= 60)) far.push(mark);
    }
    return far;
  };
  write(plot.xaxes[0], kept, (tick) => marks.find(([mark]) => mark === tick)[1]);
  plot.xgrids[0].ticker = plot.xaxes[0].ticker;
}

const STEPS = [1, 5, 15, 30, 60, 300, 900, 1800, 3600, 3 * 3600, 6 * 3600, 12 * 3600, DAY, 2 * DAY, 5 * DAY];

function timeTicks(low, high, most) {
  let step = STEPS.find((one) => (high - low) / (1000 * one) <= most) ?? 10 * DAY;
  while ((high - low) / (1000 * step) > most) step *= 2;
  const ticks = [];
  for (let tick = Math.ceil(low / (1000 * step)); tick * 1000 * step <= high; tick++) ticks.push(tick * 1000 * step);
  return ticks;
}

// A tick as days, with hours, minutes and seconds where the ticks stand that close.
function tickText(seconds, ticks) {
  const step = ticks.length > 1 ? (ticks[1] - ticks[0]) / 1000 : DAY;
  const [days, time] = clock(seconds).split(" ");
  if (step >= DAY) return days;
  return `${days} ${step >= 60 ? time.slice(0, 5) : time}`;
}

const MONTHS = [1, 2, 3, 6, 12, 24, 60, 120];
const WEEK = 7 * DAY;
const SECOND_AXIS = 22;  // pixels that it takes

function dated() {
  return data.unix !== null && data.unix !== undefined;
}

// Ticks of the calendar, in UTC: round hours, days, Mondays, or the first days of months.
function dateTicks(low, high, most) {
  const [first, last] = [low, high].map((ms) => data.unix + ms / 1000);
  const step = [...STEPS.filter((one) => one <= DAY), 2 * DAY, 3 * DAY, WEEK].find((one) => (last - first) / one <= most);
  const ticks = [];
  if (step !== undefined) {
    const begin = step === WEEK ? 4 * DAY : 0;  // the first Monday of Unix time
    for (let tick = Math.ceil((first - begin) / step) * step + begin; tick <= last; tick += step) ticks.push(tick);
  } else {
    const months = MONTHS.find((one) => (last - first) / (30 * DAY * one) <= most) ?? 240;
    const start = new Date(first * 1000);
    let month = Math.floor((12 * start.getUTCFullYear() + start.getUTCMonth()) / months) * months;
    for (let tick = 0; tick <= last; month += months) {
      tick = Date.UTC(Math.floor(month / 12), month % 12) / 1000;
      if (first <= tick && tick <= last) ticks.push(tick);
    }
  }
  return ticks.map((tick) => (tick - data.unix) * 1000);
}

// A tick as a date, or the time of a day; the first one, and those that begin a year, tell which year it is.
function dateText(tick, ticks) {
  const moment = new Date(data.unix * 1000 + tick);
  const part = (options) => moment.toLocaleString("en-US", { timeZone: "UTC", ...options });
  const step = ticks.length > 1 ? (ticks[1] - ticks[0]) / 1000 : DAY;
  const first = tick === ticks[0];
  const day = part({ month: "short", day: "numeric" });
  const seconds = Math.round(moment / 1000) % DAY;
  if (step >= 28 * DAY) return first || moment.getUTCMonth() === 0 ? part({ month: "short", year: "numeric" }) : part({ month: "short" });
  if (step >= DAY) return first ? part({ month: "short", day: "numeric", year: "numeric" }) : day;
  const time = moment.toISOString().slice(11, step < 60 ? 19 : 16);
  return first && seconds !== 0 ? `${day}, ${time}` : seconds === 0 ? day : time;
}

// A box that follows the pointer over a chart; `tell(x, y)` gives its text, empty for none.
function hover(plot, tell) {
  plot.on_event("mousemove", (event) => {
    const text = event.x === null ? "" : tell(event.x / 1000, event.y);
    tooltip.textContent = text;
    tooltip.hidden = text === "";
  });
  plot.on_event("mouseleave", () => (tooltip.hidden = true));
}

const tooltip = make("div", { class: "tooltip", hidden: true, "aria-hidden": "true" });
document.body.append(tooltip);
document.addEventListener("pointermove", ({ clientX, clientY }) => {
  const left = Math.min(clientX + 14, innerWidth - tooltip.offsetWidth - 8);
  tooltip.style.left = `${Math.max(left, 8)}px`;
  tooltip.style.top = `${Math.min(clientY + 14, innerHeight - tooltip.offsetHeight - 8)}px`;
});

// The first place in sorted values that holds more than x.
function after(values, x, low = 0, high = values.length) {
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] > x) high = middle;
    else low = middle + 1;
  }
  return low;
}
