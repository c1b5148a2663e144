// Package page writes a comparison, a summary or a history as one HTML file
// that needs nothing else: style, script and charts are inside, and a content
// security policy keeps the browser from fetching anything. The script sorts
// and filters tables; without it the page says the same.
//
// The verdicts stand first: how many rows came to which, what is slower, and
// what is undecided with the samples it needs. Then follow the machine, the
// latencies, and a section for each benchmark with its charts and rows.
//
// Equal reports give equal bytes. Everything from the input goes through
// html/template. Pages of thousands of rows hold all rows, but a bounded
// number of charts, and say what was left out.
package page
