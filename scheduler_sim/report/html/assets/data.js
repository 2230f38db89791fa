// What the page was given: plain data, and columns packed as report/html/pack.py says.

const data = JSON.parse(document.getElementById("data").textContent);

async function unpack() {
  const text = document.getElementById("packed").textContent;
  if (text === "") return {};
  const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const whole = await new Response(stream).arrayBuffer();
  const length = new DataView(whole).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(whole, 4, length)));
  const types = { i1: Int8Array, i2: Int16Array, i4: Int32Array, f8: Float64Array };
  const columns = {};
  let offset = 4 + length;
  for (const { name, type, length, words, growing } of header) {
    const values = new types[type](whole, offset, length);
    offset += Math.ceil(values.byteLength / 8) * 8;
    columns[name] = growing ? summed(values) : values;
    if (words) columns[name].words = words;
  }
  return columns;
}

function summed(differences) {
  const values = new Float64Array(differences.length);
  let sum = 0;
  for (let i = 0; i < values.length; i++) values[i] = sum += differences[i];
  return values;
}

// The value of a column as text or number: columns of text hold codes into words.
function at(column, row) {
  return column.words ? column.words[column[row]] : column[row];
}
