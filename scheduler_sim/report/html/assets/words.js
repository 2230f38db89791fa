// How times, numbers and names are written, as report/wording.py does, and elements made without HTML.

const DAY = 86400;

function clock(seconds) {
  const size = Math.abs(Math.round(seconds));
  const part = (number) => String(Math.floor(number)).padStart(2, "0");
  const days = Math.floor(size / DAY);
  return `${seconds < 0 ? "-" : ""}${days}d ${part((size % DAY) / 3600)}:${part((size / 60) % 60)}:${part(size % 60)}`;
}

function duration(seconds) {
  const size = Math.round(seconds);
  if (Math.abs(size) < 60) return `${size} s`;
  return Math.abs(size) < DAY ? clock(size).replace("0d ", "").replace(/^(-?)0(\d:)/, "$1$2") : clock(size);
}

// A span of time as a column has it, every row alike: hours, minutes and seconds.
function hours(seconds) {
  const part = (number) => String(Math.floor(number) % 60).padStart(2, "0");
  return `${Math.floor(seconds / 3600).toLocaleString("en-US")}:${part(seconds / 60)}:${part(seconds)}`;
}

function grouped(number) {
  return number.toLocaleString("en-US", { maximumFractionDigits: 2 });
}

function count(number, noun) {
  return `${grouped(number)} ${noun}${number === 1 ? "" : "s"}`;
}

// Traces write -1 or NA for a name that is not known.
function known(name) {
  return !["", "-1", "NA"].includes(name);
}

function calendar(seconds) {
  if (data.unix === null || data.unix === undefined) return "";
  const moment = new Date((data.unix + seconds) * 1000);
  return isNaN(moment) ? "" : moment.toISOString().slice(0, 19).replace("T", " ") + " UTC";
}

// Make an element; children are elements or text, and text stays text.
function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(key, value);
    else if (value !== false && value !== null) element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

function button(text, action, attributes = {}) {
  return make("button", { type: "button", click: action, ...attributes }, text);
}

// A field with its label; the label is not around it, or its options would be part of its name.
let fields = 0;
function labelled(text, field) {
  field.id = `field-${fields++}`;
  return make("span", { class: "field" }, make("label", { for: field.id }, text), " ", field);
}

// A labelled choice among [value, text] pairs.
function choice(label, options, action) {
  const select = make("select", {}, ...options.map(([value, text]) => make("option", { value }, text)));
  select.addEventListener("change", () => action(select.value));
  return labelled(label, select);
}

function later(action, milliseconds) {
  let timer;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(action, milliseconds);
  };
}
