// Sorting: a button in each column's header; the same for tables in the page and the table of jobs.

// Turn a header cell into a button; `sort(ascending)` does the work.
function sortable(cell, sort) {
  const title = cell.textContent;
  const knob = button(title, () => {
    const ascending = cell.getAttribute("aria-sort") !== "ascending";
    for (const other of cell.parentElement.children) other.removeAttribute("aria-sort");
    cell.setAttribute("aria-sort", ascending ? "ascending" : "descending");
    sort(ascending);
  });
  cell.replaceChildren(knob);
}

function compare(a, b) {
  if (typeof a === "number" && typeof b === "number") {
    if (isNaN(a) || isNaN(b)) return isNaN(a) - isNaN(b);
    return a - b;
  }
  return a < b ? -1 : a > b ? 1 : 0;
}

// Tables that came with the page, sorted by data-key.
function sortableTables() {
  for (const table of document.querySelectorAll("table.sortable")) {
    const body = table.tBodies[0];
    const key = (row, i) => {
      const text = row.cells[i].dataset.key;
      return text !== "" && !isNaN(text) ? Number(text) : text === "nan" ? NaN : text;
    };
    [...table.tHead.rows[0].cells].forEach((cell, i) => {
      sortable(cell, (ascending) => {
        const rows = [...body.rows].map((row) => [key(row, i), row]);
        rows.sort(([a], [b]) => (ascending ? compare(a, b) : compare(b, a)));
        body.append(...rows.map(([, row]) => row));
      });
    });
  }
}

// What has been scrolled says so: its first column then shows that others lie below it.
document.addEventListener("scroll", ({ target }) => {
  if (target.matches?.(".scroll")) target.classList.toggle("scrolled", target.scrollLeft > 0);
}, true);
