"use strict";
(function () {
	const VERSION = 1; // of the JSON that this page understands
	const PERIOD = 1000, PATIENCE = 5000; // milliseconds between answers, and for one
	const STUCK = 10e9; // nanoseconds from which on an open barrier is
	const CARDS = 24; // partitions up to which each has a card
	const HISTORY = 60, PAUSES = 240, HEADS = 8, EVENTS = 50;

	const $ = (id) => document.getElementById(id);
	const asked = new URLSearchParams(location.search).get("n");
	const partitions = new Map(); // number → what is known over time
	const view = { shown: "all", text: "", chosen: null, pause: null };
	const link = { paused: false, lostAt: 0, answered: null, instance: "", cursor: "" };
	let latest = null, pauses = [], events = [], missed = 0, before = null, speed = null;

	// Texts.

	function number(v) {
		return String(v).replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
	}
	function count(n, one, many) {
		return number(n) + " " + (Number(n) === 1 ? one : many || one + "s");
	}
	function rounded(v) {
		return v >= 100 ? Math.round(v).toString() : v >= 10 ? v.toFixed(1) : v.toFixed(2);
	}
	function lasting(ns) {
		const s = ns / 1e9;
		if (ns < 1e3) return ns + " ns";
		if (ns < 1e6) return rounded(ns / 1e3) + " µs";
		if (s < 0.9995) return rounded(ns / 1e6) + " ms";
		if (s < 10) return s.toFixed(1) + " s";
		if (s < 60) return Math.floor(s) + " s";
		if (s < 3600) return Math.floor(s / 60) + " min " + Math.floor(s % 60) + " s";
		if (s < 86400) return Math.floor(s / 3600) + " h " + Math.floor(s % 3600 / 60) + " min";
		return Math.floor(s / 86400) + " d " + Math.floor(s % 86400 / 3600) + " h";
	}
	function brief(ns) { // at most five characters or so
		const s = ns / 1e9;
		return s < 100 ? Math.floor(s) + "s" : s < 6000 ? Math.floor(s / 60) + "m" : s < 360000 ? Math.floor(s / 3600) + "h" : Math.floor(s / 86400) + "d";
	}
	function limit() {
		return lasting(latest.heldBackAfterNs).replace(".0 ", " ");
	}
	function rate(perSecond) {
		return number(perSecond >= 10 ? Math.round(perSecond) : Math.round(perSecond * 10) / 10) + "/s";
	}
	function clock(date) {
		return date.toTimeString().slice(0, 8);
	}

	// Elements. Nothing is written that is there already, so that the focus, a
	// selection and what a screen reader says are left alone.

	function make(tag, cls, text) {
		const e = document.createElement(tag);
		if (cls) e.className = cls;
		if (text !== undefined) e.textContent = text;
		return e;
	}
	function draw(tag, attributes, text) {
		const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
		for (const name in attributes) e.setAttribute(name, attributes[name]);
		if (text !== undefined) e.textContent = text;
		return e;
	}
	function say(e, text) {
		if (e.textContent !== text) e.textContent = text;
	}
	function set(e, name, value) {
		if (e.getAttribute(name) !== String(value)) e.setAttribute(name, value);
	}
	function show(e, yes) {
		if (e.hidden === yes) e.hidden = !yes;
	}
	// arrange makes the children of a parent those given, in their order.
	function arrange(parent, children) {
		const focus = document.activeElement;
		children.forEach((c, i) => {
			if (parent.children[i] !== c) parent.insertBefore(c, parent.children[i] || null);
		});
		while (parent.children.length > children.length) parent.lastElementChild.remove();
		if (focus !== document.activeElement && parent.contains(focus)) focus.focus({ preventScroll: true });
	}
	function rows(body, cells) {
		while (body.rows.length > cells.length) body.deleteRow(-1);
		cells.forEach((row, y) => {
			const tr = body.rows[y] || body.insertRow();
			row.forEach((cell, x) => {
				const td = tr.cells[x] || tr.insertCell();
				if (typeof cell === "string") say(td, cell);
				else {
					if (!td.firstElementChild) td.append(make("span"));
					set(td.firstElementChild, "class", cell.cls);
					say(td.firstElementChild, cell.text);
				}
				if (body.parentElement.tHead.rows[0].cells[x].className) set(td, "class", "number");
			});
		});
	}

	// What is known of the partitions over time.

	function stateOf(p) {
		if (p.head && p.head.failed) return "failed";
		if (p.head && p.heldBackNs >= latest.heldBackAfterNs) return "held";
		return p.pending > 0 ? "moving" : "idle";
	}
	const MARKS = { failed: "✕", held: "◷", moving: "", idle: "" };
	const WORDS = { failed: "stalled", held: "held back", moving: "moving", idle: "idle" };

	function remember(list, now) {
		const seen = new Set(), come = [], gone = [];
		for (const p of list) {
			seen.add(p.partition);
			let known = partitions.get(p.partition);
			if (!known) {
				partitions.set(p.partition, known = { history: [], state: "" });
				come.push(p.name);
			}
			const state = stateOf(p);
			if (known.state !== state && (state === "failed" || state === "held")) {
				note(state, p.name + (state === "failed" ? " is stalled by the failed batch " : " is held back by the batch ") + p.head.batch);
			} else if ((known.state === "failed" || known.state === "held") && state !== "failed" && state !== "held") {
				note("", p.name + " moves again");
			}
			if (known.p && (known.p.watermark > p.watermark)) known.history = [];
			known.p = p;
			known.state = state;
			known.history.push({ at: now, watermark: Number(p.watermark), pending: p.pending });
			if (known.history.length > HISTORY) known.history.shift();
		}
		for (const [n, known] of partitions) {
			if (seen.has(n)) continue;
			gone.push(known.p.name);
			partitions.delete(n);
		}
		// Beyond the limit of an answer, what comes and goes is not known.
		if (before && !latest.checkpointer.truncated && !before.truncated) {
			if (come.length) note("", several(come) + (come.length === 1 ? " was" : " were") + " assigned");
			if (gone.length) note("", several(gone) + (gone.length === 1 ? " was" : " were") + " revoked");
		}
	}
	function several(names) {
		return names.length > 4 ? count(names.length, "partition") : names.join(", ");
	}
	function speedOf(known) {
		const h = known.history.slice(-6), first = h[0], last = h[h.length - 1];
		if (h.length < 2 || !first.watermark) return null; // from none to the first is no distance
		return (last.watermark - first.watermark) / (last.at - first.at) * 1000;
	}

	// What changed while the page was open.

	function note(kind, text) {
		events.unshift({ at: new Date(), kind, text });
		events.length = Math.min(events.length, EVENTS);
	}
	function showEvents() {
		show($("events-none"), events.length === 0);
		const list = events.slice(0, 12).map((e) => {
			if (!e.element) {
				e.element = make("li");
				e.element.append(make("time", "", clock(e.at)));
				if (e.kind) {
					const span = make("span");
					span.append(make("span", "tag " + e.kind, MARKS[e.kind]), " " + e.text);
					e.element.append(span);
				} else e.element.append(make("span", "", e.text));
			}
			return e.element;
		});
		arrange($("events"), list);
	}

	// The summary.

	const sums = new Map();
	function sum(label, value, small, alarm) {
		let e = sums.get(label);
		if (!e) {
			const box = make("div"), dt = make("dt", "", label), dd = make("dd"), text = make("span"), sub = make("small");
			dd.append(text, sub);
			box.append(dt, dd);
			$("sums").append(box);
			sums.set(label, e = { box, text, sub });
		}
		say(e.text, value);
		say(e.sub, small || "");
		if (alarm) set(e.box, "data-alarm", alarm);
		else e.box.removeAttribute("data-alarm");
	}
	function showSums(c, list) {
		const failed = Math.max(c.stalled, list.filter((p) => stateOf(p) === "failed").length);
		const waiting = list.filter((p) => stateOf(p) === "held"), held = waiting.length;
		sum("Partitions", number(c.admitted), c.begun ? "in epoch " + number(c.epoch) : "no epoch has begun");
		sum("Stalled", number(failed), failed ? "by a failed batch" : "none failed", failed ? "failed" : "");
		sum("Held back", number(held), held ? "up to " + lasting(Math.max(...waiting.map((p) => p.heldBackNs))) : "for " + limit() + " or longer", held ? "held" : "");
		sum("Pending", number(c.pending), "up to " + number(c.maxPending) + " in one");
		sum("Resolved", speed === null ? "–" : rate(speed), number(c.drained.applied) + " batches");
		sum("Stale", number(c.drained.staleEpoch), "late handles");
		const wrong = c.drained.duplicates + c.drained.unknown + c.leaks.unreachable;
		sum("Misuse", number(wrong), c.leaks.unreachable ? count(c.leaks.unreachable, "leak") : "of handles", wrong ? "held" : "");
		sum("Skipped", number(c.skipped), "failed, let pass", "");
		const b = latest.barriers, open = b ? b.open.length + b.unlisted : 0, age = b && b.open.length ? b.open[0].age_ns : 0;
		sum("Open barriers", b ? number(open) : "–", !b ? "no ledger" : age ? "for " + lasting(age) : "none", age >= STUCK ? "held" : "");
		document.title = (failed ? "✕ " + failed + " stalled – " : held ? "◷ " + held + " held back – " : "") + latest.title;
		say($("epoch"), c.begun ? "epoch " + number(c.epoch) : "no epoch yet");
	}

	// What is held back.

	function showHeld(list) {
		const held = list.filter((p) => { const s = stateOf(p); return s === "failed" || s === "held"; });
		held.sort((a, b) => (b.head.failed - a.head.failed) || b.heldBackNs - a.heldBackNs);
		show($("held-none"), held.length === 0);
		say($("held-none"), "Nothing is held back for " + limit() + " or longer.");
		show($("held-some"), held.length > 0);
		rows($("held-rows"), held.slice(0, HEADS).map((p) => [
			p.name,
			p.head.failed ? { cls: "tag failed", text: "✕ failed" } : { cls: "tag held", text: "◷ pending" },
			lasting(p.heldBackNs), p.head.batch, number(p.head.lastOffset), number(p.head.behind),
		]));
		show($("held-more"), held.length > HEADS);
		say($("held-more"), "and " + number(held.length - HEADS) + " more, below");
	}

	// The partitions.

	const choices = [["all", "All"], ["failed", "✕ Stalled"], ["held", "◷ Held back"], ["moving", "Moving"], ["idle", "Idle"]].map(([value, text]) => {
		const b = make("button", "", text);
		b.type = "button";
		b.addEventListener("click", () => { view.shown = value; showPartitions(); });
		$("states").append(b);
		return { value, text, b };
	});
	$("filter").addEventListener("input", () => { view.text = $("filter").value.trim().toLowerCase(); showPartitions(); });

	const ORDER = { failed: 0, held: 1, moving: 2, idle: 2 };
	function showPartitions() {
		const c = latest && latest.checkpointer;
		if (!c) return;
		const all = Array.from(partitions.values()), states = { all: all.length, failed: 0, held: 0, moving: 0, idle: 0 };
		all.forEach((k) => states[k.state]++);
		choices.forEach((o) => {
			set(o.b, "aria-pressed", o.value === view.shown);
			say(o.b, o.text + " " + number(states[o.value]));
		});
		const list = all.filter((k) => (view.shown === "all" || view.shown === k.state) && k.p.name.toLowerCase().includes(view.text));
		list.sort((a, b) => ORDER[a.state] - ORDER[b.state] || (ORDER[a.state] < 2 && b.p.heldBackNs - a.p.heldBackNs) || a.p.partition - b.p.partition);
		const cards = all.length <= CARDS;
		show($("tile-keys"), !cards);
		say(document.querySelector("#tile-keys .limit"), limit());
		set($("grid"), "class", cards ? "cards" : "tiles");
		const common = cards ? "" : sharedStart(all), top = Math.log1p(c.maxPending);
		if (!cards) {
			const longest = all.reduce((n, k) => Math.max(n, k.p.name.length - common.length), 0);
			$("grid").style.setProperty("--tile", Math.max(58, Math.min(150, 24 + longest * 8)) + "px");
		}
		arrange($("grid"), list.map((k) => cards ? card(k) : tile(k, common, top)));
		say($("parts-title"), common ? "Partitions of " + common.replace(/\W+$/, "") : "Partitions");
		say($("shown"), [
			list.length < all.length ? number(list.length) + " of " + number(all.length) + " shown" : "",
			c.truncated ? "this page has " + number(all.length) + " of " + number(c.admitted) + ": those held back longest, then by number" : "",
		].filter(Boolean).join("; "));
		show($("parts-none"), list.length === 0);
		say($("parts-none"), all.length === 0 ? "No partition is assigned to this process." : "No partition is like that.");
		showDetail();
	}
	// sharedStart is what all names begin with, up to a slash or the like.
	function sharedStart(all) {
		let start = all.length ? all[0].p.name : "";
		for (const k of all) while (!k.p.name.startsWith(start)) start = start.slice(0, -1);
		return start.replace(/[^\/.:#-]*$/, "");
	}
	function element(k, kind, build) {
		if (k.kind !== kind) {
			k.kind = kind;
			k.li = make("li");
			k.b = make("button", "part");
			k.b.type = "button";
			k.b.addEventListener("click", () => { view.chosen = view.chosen === k.p.partition ? null : k.p.partition; showPartitions(); });
			k.li.append(k.b);
			build(k.b);
		}
		set(k.b, "data-state", k.state);
		set(k.b, "data-partition", k.p.partition);
		set(k.b, "aria-pressed", view.chosen === k.p.partition);
		return k.li;
	}
	function tile(k, common, top) {
		const li = element(k, "tile", (b) => {
			k.mark = make("span", "mark");
			k.name = make("span", "name");
			k.more = make("span", "more");
			b.append(k.mark, k.name, k.more);
		});
		const marked = k.state === "failed" || k.state === "held", p = k.p;
		set(li, "class", marked ? "wide" : "");
		say(k.mark, MARKS[k.state]);
		say(k.name, p.name.slice(common.length));
		say(k.more, marked ? brief(p.heldBackNs) : "");
		const load = top && p.pending ? Math.round(8 + 37 * Math.log1p(p.pending) / top) : 0;
		if (k.load !== load) k.b.style.setProperty("--load", k.load = load);
		const text = p.name + ", " + WORDS[k.state] + (marked ? " for " + lasting(p.heldBackNs) : "") + ", " + number(p.pending) + " pending, watermark " + watermark(p.watermark);
		set(k.b, "aria-label", text);
		set(k.b, "title", text);
		return li;
	}
	function watermark(v) {
		return Number(v) === 0 ? "none" : number(v);
	}
	function committed(p) {
		return Number(p.committed) === 0 ? "" : p.committed === p.watermark ? "all committed" : "committed " + number(p.committed);
	}
	function card(k) {
		const li = element(k, "card", (b) => {
			const head = make("span", "card-head"), facts = make("span", "card-facts"), left = make("span"), right = make("span", "number");
			k.mark = make("span", "mark");
			k.name = make("span", "name");
			k.word = make("span", "state");
			head.append(k.mark, k.name, k.word);
			k.mark2 = make("span", "big");
			k.speed = make("span", "label");
			left.append(make("span", "label", "watermark"), k.mark2, k.speed);
			k.pending = make("span", "big");
			k.open = make("span", "label");
			right.append(make("span", "label", "pending"), k.pending, k.open);
			facts.append(left, right);
			k.spark = draw("svg", { class: "spark", viewBox: "0 0 100 30", preserveAspectRatio: "none", "aria-hidden": "true" });
			k.path = draw("path", {});
			k.spark.append(k.path);
			b.append(head, facts, k.spark);
		});
		const p = k.p, v = speedOf(k);
		say(k.mark, MARKS[k.state]);
		say(k.name, p.name);
		say(k.word, WORDS[k.state] + (k.state === "failed" || k.state === "held" ? " for " + lasting(p.heldBackNs) : ""));
		say(k.mark2, Number(p.watermark) === 0 ? "none" : number(p.watermark));
		say(k.speed, [v === null ? "" : rate(v), committed(p)].filter(Boolean).join(", ") || "\u00a0");
		say(k.pending, number(p.pending));
		say(k.open, number(p.unresolved) + " unresolved");
		const most = Math.max(1, ...k.history.map((h) => h.pending));
		const points = k.history.map((h, i) => (100 - (k.history.length - 1 - i) * 100 / (HISTORY - 1)).toFixed(1) + " " + (28 - 26 * h.pending / most).toFixed(1));
		if (points.length > 1) set(k.path, "d", "M" + points[0].split(" ")[0] + " 30 L" + points.join(" L") + " L100 30");
		return li;
	}
	function showDetail() {
		const k = view.chosen === null ? null : partitions.get(view.chosen), box = $("detail");
		show(box, Boolean(k));
		if (!k) return;
		const p = k.p, v = speedOf(k), facts = [
			["Partition", p.name], ["Number", String(p.partition)], ["State", WORDS[k.state]],
			["Watermark", watermark(p.watermark)], ["Watermark moves", v === null ? "not known yet" : rate(v)],
			["Committed", Number(p.committed) === 0 ? "nothing confirmed" : number(p.committed)],
			["Pending", count(p.pending, "batch", "batches")], ["Unresolved", count(p.unresolved, "batch", "batches")], ["Skipped", count(p.skipped, "batch", "batches")],
		];
		if (p.head) {
			facts.push(["Held back by", p.head.batch + (p.head.failed ? ", which failed" : ", pending")], ["For", lasting(p.heldBackNs)],
				["Since", new Date(p.head.since).toLocaleString()], ["Its last offset", number(p.head.lastOffset)], ["Behind it", count(p.head.behind, "batch", "batches")]);
		}
		if (!box.firstElementChild) box.append(make("dl"));
		const dl = box.firstElementChild;
		while (dl.children.length > facts.length) dl.lastElementChild.remove();
		facts.forEach(([name, value], i) => {
			let div = dl.children[i];
			if (!div) {
				div = make("div");
				div.append(make("dt"), make("dd"));
				dl.append(div);
			}
			say(div.firstElementChild, name);
			say(div.lastElementChild, value);
		});
	}

	// The barriers.

	function keep(b) {
		link.cursor = b.cursor;
		if (b.fresh) pauses = [];
		missed = b.fresh ? 0 : missed + b.missed;
		pauses = pauses.concat(b.records).slice(-PAUSES);
	}
	function remarks(r) {
		return [r.durable_tail_handoff ? "" : "nothing was handed off", r.deadline_exhausted ? "took longer than it may" : ""].filter(Boolean).join(", ");
	}
	function sentence(r) {
		return "Attempt " + number(r.attempt.checkpoint_id) + " as " + r.role + ": " + lasting(r.pipeline_stall_ns) + ", of it local " + lasting(r.local_barrier_ns) +
			(r.aligned_resume_ns === null ? "" : ", until the resume " + lasting(r.aligned_resume_ns)) + (remarks(r) ? "; " + remarks(r) : "") + ".";
	}
	function quantile(sorted, q) {
		return sorted[Math.min(sorted.length - 1, Math.ceil(q * sorted.length) - 1)];
	}
	function showBarriers(b) {
		const any = b && (pauses.length > 0 || b.open.length > 0);
		show($("pauses"), Boolean(any));
		show($("pauses-none"), !any);
		say($("pauses-none"), b ? b.error || "There was no barrier yet." : "This process keeps no ledger of its barriers.");
		say($("pauses-note"), "");
		if (!any) return;
		const stalls = pauses.map((r) => r.pipeline_stall_ns).sort((x, y) => x - y), open = b.open.length + b.unlisted;
		say($("pauses-note"), [
			open ? count(open, "barrier") + " open" + (b.open.length ? ", the oldest for " + lasting(b.open[0].age_ns) : "") : "",
			stalls.length ? "the last " + number(stalls.length) + ": median " + lasting(quantile(stalls, 0.5)) + ", 99 % " + lasting(quantile(stalls, 0.99)) + ", longest " + lasting(quantile(stalls, 1)) : "",
			b.recording_loss_count ? number(b.recording_loss_count) + " left no record" : "",
			missed ? number(missed) + " were overwritten before this page saw them" : "",
			b.error || "",
		].filter(Boolean).join("; "));
		plot(b);
		rows($("pause-rows"), pauses.slice(-20).reverse().map((r) => [
			number(r.attempt.checkpoint_id), r.role, lasting(r.pipeline_stall_ns), lasting(r.local_barrier_ns),
			r.aligned_resume_ns === null ? "none" : lasting(r.aligned_resume_ns), remarks(r),
		]));
	}
	// plot draws the barriers in the order in which they ended, on a logarithmic
	// scale, and the open ones after them.
	function plot(b) {
		const width = Math.max(280, $("plot").clientWidth), height = 190, left = 56, bottom = 22, right = 8;
		const open = b.open.slice(0, 8), openWidth = open.length ? Math.min(open.length * 26 + 110, width / 2.5) : 0;
		const space = width - left - right - openWidth, slots = Math.max(1, Math.floor(space / 7));
		const shown = pauses.slice(-slots), step = shown.length ? Math.min(22, space / Math.max(shown.length, 20)) : 0;
		const values = shown.flatMap((r) => [r.local_barrier_ns, r.pipeline_stall_ns]).concat(open.map((g) => g.age_ns)).filter((v) => v > 0);
		const low = Math.max(3, Math.floor(Math.log10(Math.min(...values, 1e9)))), high = Math.max(low + 2, Math.ceil(Math.log10(Math.max(...values, 1e4))));
		const y = (ns) => 14 + (height - 14 - bottom) * (1 - Math.min(1, Math.max(0, (Math.log10(Math.max(ns, 1)) - low) / (high - low))));
		const svg = draw("svg", { viewBox: "0 0 " + width + " " + height, role: "img", "aria-label": "How long the barriers took: " + $("pauses-note").textContent });
		for (let d = low; d <= high; d++) {
			svg.append(draw("line", { class: "rule", x1: left, x2: width - right, y1: y(10 ** d), y2: y(10 ** d) }));
			if (high - low < 7 || (d - low) % 2 === 0) svg.append(draw("text", { x: left - 8, y: y(10 ** d) + 4, "text-anchor": "end" }, short(10 ** d)));
		}
		const base = y(0), from = width - right - openWidth - shown.length * step;
		shown.forEach((r, i) => {
			const x = from + i * step, w = Math.max(2, step - 2), g = draw("g", {});
			const bar = (cls, ns) => g.append(draw("rect", { class: cls, x, width: w, y: Math.min(y(ns), base - 1), height: Math.max(1, base - y(ns)) }));
			if (view.pause === r.sequence) g.append(draw("rect", { class: "chosen", x: x - 1, width: w + 2, y: 4, height: base - 4 }));
			bar(r.deadline_exhausted ? "late" : "whole", r.pipeline_stall_ns);
			bar("local", r.local_barrier_ns);
			if (r.deadline_exhausted) g.append(draw("text", { x: x + w / 2, y: y(r.pipeline_stall_ns) - 3, "text-anchor": "middle" }, "!"));
			svg.append(g);
		});
		open.forEach((g, i) => {
			const x = width - right - openWidth + 14 + i * 26;
			svg.append(draw("rect", { class: "open", x, width: 18, y: y(g.age_ns), height: base - y(g.age_ns) }));
		});
		if (open.length) {
			const x = width - right - openWidth + 14 + open.length * 26;
			svg.append(draw("text", { class: "age", x, y: y(open[0].age_ns) + 10 }, "open for"), draw("text", { class: "age", x, y: y(open[0].age_ns) + 26 }, lasting(open[0].age_ns)));
		}
		if (shown.length) {
			const label = (r) => "attempt " + number(r.attempt.checkpoint_id);
			if (shown.length * step > 200) svg.append(draw("text", { x: from, y: height - 6 }, label(shown[0])));
			svg.append(draw("text", { x: from + shown.length * step, y: height - 6, "text-anchor": "end" }, label(shown[shown.length - 1])));
		}
		svg.addEventListener("pointermove", (e) => {
			const at = svg.getBoundingClientRect(), i = Math.floor(((e.clientX - at.left) * width / at.width - from) / step);
			const r = shown[i];
			if (!r || view.pause === r.sequence) return;
			view.pause = r.sequence;
			say($("pause-detail"), sentence(r));
			plot(b);
		});
		$("plot").replaceChildren(svg);
		if (view.pause === null || !shown.some((r) => r.sequence === view.pause)) say($("pause-detail"), shown.length ? "Point at a bar for its figures." : "");
	}
	function short(ns) {
		return ns < 1e6 ? ns / 1e3 + " µs" : ns < 1e9 ? ns / 1e6 + " ms" : ns / 1e9 + " s";
	}

	// The connection.

	function status(kind, text) {
		set($("link"), "data-link", kind);
		say($("link-text"), text);
	}
	function accept(s, now) {
		if (s.version !== VERSION) throw new Error("the program speaks version " + s.version + " and this page " + VERSION + ": load it again");
		if (link.instance && link.instance !== s.instance) {
			partitions.clear();
			pauses = [];
			missed = 0;
			before = speed = null;
			view.chosen = view.pause = null;
			note("", "the program was started anew: what this page knew is of the one before");
		}
		link.instance = s.instance;
		latest = s;
		const c = s.checkpointer;
		show($("main"), true);
		show($("none"), !c);
		show($("with-checkpointer"), Boolean(c));
		if (s.barriers) keep(s.barriers);
		if (c) {
			if (before && now > before.now) speed = Math.max(0, (c.drained.applied - before.applied) / (now - before.now) * 1000);
			remember(c.partitions, now);
			before = { now, applied: c.drained.applied, truncated: c.truncated };
			showSums(c, c.partitions);
			showHeld(c.partitions);
			showPartitions();
		} else {
			if (before) note("", "the checkpointer is gone");
			partitions.clear();
			before = speed = null;
			document.title = s.title;
			say($("epoch"), "");
		}
		showBarriers(s.barriers);
		showEvents();
	}
	// Numbers that JavaScript would round are kept as integers of any size.
	function parse(text) {
		return JSON.parse(text, (key, value, context) =>
			typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value) && context && context.source ? BigInt(context.source) : value);
	}
	async function ask() {
		const query = new URLSearchParams({ format: "json" });
		if (asked) query.set("n", asked);
		if (link.cursor) query.set("cursor", link.cursor);
		const response = await fetch("?" + query, { cache: "no-store", signal: AbortSignal.timeout(PATIENCE) });
		const text = await response.text();
		if (response.status === 400) link.cursor = ""; // of a program that wrote them differently
		if (!response.ok) throw new Error("the program answered " + response.status + ": " + text.slice(0, 200));
		return parse(text);
	}
	function lost(err) {
		const now = Date.now();
		if (!link.lostAt) {
			link.lostAt = now;
			note("", "the connection was lost");
			showEvents();
			document.body.classList.add("lost");
			document.title = "Connection lost – " + document.title.replace(/^.* – /, "");
			say($("alert"), "Connection lost: " + (err && err.message || err) + (link.answered ? ". What is shown is from " + clock(link.answered) : "") + ". This page goes on asking.");
			show($("alert"), true);
		}
		status("lost", "connection lost for " + lasting(Math.max(now - link.lostAt, 1) * 1e6));
	}
	function found() {
		if (link.lostAt) note("", "the connection is back after " + lasting((Date.now() - link.lostAt) * 1e6));
		link.lostAt = 0;
		document.body.classList.remove("lost");
		show($("alert"), false);
	}
	async function tick() {
		const began = Date.now();
		if (!link.paused) {
			try {
				const s = await ask();
				if (!link.paused) {
					found();
					accept(s, performance.now());
					link.answered = new Date();
					status("live", "live, " + clock(link.answered));
				}
			} catch (err) {
				if (!link.paused) lost(err);
			}
		}
		setTimeout(tick, Math.max(100, PERIOD - (Date.now() - began)));
	}
	$("pause").addEventListener("click", () => {
		link.paused = !link.paused;
		set($("pause"), "aria-pressed", link.paused);
		say($("pause"), link.paused ? "Resume" : "Pause");
		if (link.paused) status("paused", "paused at " + clock(new Date()));
		else status("waiting", "asking");
	});
	addEventListener("resize", () => { if (latest && latest.barriers) showBarriers(latest.barriers); });
	tick();
})();
