"use strict";
(function () {
	var form = document.querySelector("nav form");
	if (!form) return;
	form.hidden = false;
	var words = form.querySelector("input[type=search]");
	var boxes = Array.prototype.slice.call(form.querySelectorAll("input[type=checkbox]"));
	var shown = form.querySelector("output");
	var rows = Array.prototype.slice.call(document.querySelectorAll("tr[data-row]"));

	// A row is shown if its verdict is ticked, when it has one, and all words
	// are in it or in the name of its section.
	function filter() {
		var off = {};
		boxes.forEach(function (b) { off[b.value] = !b.checked; });
		var want = words.value.toLowerCase().split(/\s+/);
		var n = 0;
		rows.forEach(function (r) {
			var text = (r.closest("section").dataset.topic + " " + r.textContent).toLowerCase();
			var keep = !off[r.dataset.row] && want.every(function (w) { return text.indexOf(w) >= 0; });
			r.classList.toggle("hidden", !keep);
			if (keep) n++;
		});
		document.querySelectorAll("section[data-topic]").forEach(function (s) {
			s.classList.toggle("hidden", !s.querySelector("tr[data-row]:not(.hidden)"));
		});
		shown.textContent = n === rows.length ? "" : n + " of " + rows.length + " rows";
	}
	words.addEventListener("input", filter);
	boxes.forEach(function (b) { b.addEventListener("change", filter); });
	form.addEventListener("submit", function (e) { e.preventDefault(); });

	// Sorting keeps rows without a figure last.
	function sort(th) {
		var column = th.cellIndex, body = th.closest("table").tBodies[0];
		var down = th.getAttribute("aria-sort") === "ascending";
		th.parentNode.querySelectorAll("th").forEach(function (o) { o.removeAttribute("aria-sort"); });
		th.setAttribute("aria-sort", down ? "descending" : "ascending");
		var numeric = th.dataset.sort === "number";
		var list = Array.prototype.slice.call(body.rows).map(function (r, i) {
			var c = r.cells[column];
			var key = numeric ? (c.dataset.key ? Number(c.dataset.key.replace("+Inf", "Infinity").replace("-Inf", "-Infinity")) : NaN) : c.textContent;
			return { row: r, key: key, at: i };
		});
		list.sort(function (a, b) {
			if (numeric && (a.key !== a.key || b.key !== b.key)) return (a.key !== a.key) - (b.key !== b.key) || a.at - b.at;
			var order = a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
			return (down ? -order : order) || a.at - b.at;
		});
		list.forEach(function (e) { body.appendChild(e.row); });
	}
	document.querySelectorAll("th[data-sort]").forEach(function (th) {
		th.tabIndex = 0;
		th.addEventListener("click", function () { sort(th); });
		th.addEventListener("keydown", function (e) { if (e.key === "Enter") sort(th); });
	});

	// A link to a row in a fold opens it.
	function unfold() {
		var row = location.hash && document.getElementById(location.hash.slice(1));
		var fold = row && row.closest("details");
		if (fold) { fold.open = true; row.scrollIntoView(); }
	}
	window.addEventListener("hashchange", unfold);
	unfold();
})();
