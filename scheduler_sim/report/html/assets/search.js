// The page of a search: its chart, and tables that can be sorted.

mixes(data.mixes);
sortableTables();
document.documentElement.dataset.ready = "yes";
