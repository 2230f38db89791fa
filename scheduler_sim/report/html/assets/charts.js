// What all charts share: a Bokeh figure without its toolbar, one span of time, buttons for the keyboard.

const FONT = "system-ui, sans-serif";
const INK = "#222222";
const dragging = matchMedia("(pointer: fine)").matches;  // on a touch screen a drag scrolls the page

function figure(place, settings) {
  const { height, y_axis_label, ...rest } = settings;
  const plot = new Bokeh.Plotting.Figure({
    height, sizing_mode: "stretch_width", min_width: 200, toolbar_location: null, min_border_left: 76, min_border_right: 12,
    tools: "", output_backend: "canvas", background_fill_color: "white", outline_line_color: null, ...rest,
  });
  for (const axis of plot.axes) {
    axis.setv({
      axis_label_text_font: FONT, axis_label_text_font_style: "normal", axis_label_text_color: INK,
      axis_label_text_font_size: "13px", major_label_text_font: FONT, major_label_text_color: INK,
      major_label_text_font_size: "12px", axis_line_color: "#666666", major_tick_line_color: "#666666",
      minor_tick_line_color: null,
    });
  }
  for (const grid of plot.grids) grid.grid_line_color = "#e4e4e4";
  if (y_axis_label) plot.yaxes[0].axis_label = y_axis_label;
  plot.shown = Bokeh.Plotting.show(plot, place);
  return plot;
}

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
    const plot = figure(place, { x_range: this.range(), ...settings });
    const most = () => Math.max(Math.floor(document.querySelector("main").clientWidth / 110), 2);
    write(plot.xaxes[0], (low, high) => timeTicks(low, high, most()), (tick, ticks) => tickText(tick / 1000, ticks));
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
    const tell = () => (shown.textContent = `Shown: ${this.span.map((end) => clock(Math.min(Math.max(end, 0), data.span[1]))).join(" to ")}`);
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

// Mark a logarithmic axis at [value, text] pairs: 1 first, then all that stand 60 pixels apart.
function marked(plot, marks) {
  const low = Math.log(plot.x_range.start), high = Math.log(plot.x_range.end);
  const place = (mark) => ((Math.log(mark) - low) / (high - low)) * (document.querySelector("main").clientWidth - 90);
  const kept = [];
  for (const mark of [...marks].sort(([a], [b]) => (b === 1) - (a === 1))) {
    if (kept.every(([other]) => Math.abs(place(other) - place(mark[0])) >= 60)) kept.push(mark);
  }
  write(plot.xaxes[0], () => kept.map(([mark]) => mark), (tick) => kept.find(([mark]) => mark === tick)[1]);
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
