package main

import (
	"flag"
	"io"
)

const helpIntro = `demo moves the lines of a file through Kafka and loses none of them.

  1. It starts a Kafka-protocol broker in this process (or uses yours).
  2. It produces every line of the input, once, into a topic of its own.
  3. It consumes the topic as a group. Workers parse the lines and finish in
     any order; what they wrote is synced to disk, and only then acknowledged.
  4. It commits, partition by partition, as far as everything is acknowledged.

Lines of an access log (common or combined format) become events. Lines that
are empty, too long or something else become dead letters: they are kept, with
the reason, and stop nothing.

Kill it at any moment, even with kill -9, and start it again: it goes on where
the group committed. No line is missing afterwards; some may be repeated, at
most 2 x partitions x pending x batch of them for one kill.

Usage:
  demo                                     the bundled log, everything default
  demo -input FILE                         your file
  demo -input FILE -brokers localhost:9092 your cluster
  demo -input FILE -verify                 is every line in the output?
  demo -http 127.0.0.1:8080                and show how it went, while it does
  demo -fail-line 2000                     see what a batch that fails holds back
  demo -broker-only -listen 127.0.0.1:9092 only the broker; stop it with Ctrl-C

Options:
`

const helpOutro = `
Files:
  OUT/events.ndjson   one JSON object for each line that parsed
  OUT/dead.ndjson     one for each line that did not: reason, and the line
                      itself in "raw", or "raw_base64" if it is not UTF-8
  OUT/oversized/      lines longer than -max-line, a file each
                      (with -out X.ndjson: X.ndjson, X.dead.ndjson, X.oversized/)
  DATA/               the broker's topics and offsets

Every object begins with src, line, partition and offset: which input, which
line of it, and where in the topic it was. Output is appended, never replaced.

Every commit is a checkpoint barrier. The summary lists the longest: whole is
all of it, local the part until the offsets to commit are fixed, for which no
batch is handed out, answer the part until the broker accepted them, while
batches are. Of the last commit, local is the wait for batches being worked on.
(In JSON and metrics: pipeline_stall, local_barrier and aligned_resume.)

A batch that fails holds its partition back: nothing of it and behind it is
committed, the others go on. -fail-line makes one fail. When nothing else is
left to do the program ends with exit code 3, or with -http waits for Ctrl-C.
The next run reads all of it again. With -skip-failed the batch is let pass two
seconds after it failed, without a restart; its lines are then missing.

With -http the program stays after its work, until Ctrl-C, and answers:
  /live               a page for people: partitions, the batches that hold them
                      back and since when, barriers; it updates itself
  /barriers           barriers that ended, as JSON, oldest first, ?limit=64 of
                      them. For the next page ask ?after= the last sequence, with
                      node_id, boot_incarnation and process_term of the page
  /barriers/open      barriers that have begun and not ended: a broker that does
                      not answer shows here, with the barrier's age_ns
  /metrics            for Prometheus: the same durations as histograms
  /                   this list, and who this process is
410 says that records after the cursor are overwritten (-ledger-capacity), 409
that the cursor is of another process or ahead, 400 that it lacks its process,
503 that no group was joined (yet, or because there was nothing to read). After
410 take the process from / and ask ?after= a little above the
oldest_retained_sequence of the answer:
  curl 'localhost:8080/barriers?after=40&node_id=N&boot_incarnation=UUID&process_term=1'

To read everything again, name another -group; a new -out alone gets nothing of
what the group has committed. To start afresh, delete DATA and OUT. Another
input gets a topic of its own.

Ctrl-C once: finish what is being worked on, commit, print the summary. After
the work, with -http: stop serving.
Ctrl-C twice: stop at once.

Exit codes:
  0    done, or stopped by one Ctrl-C: what was worked on is committed, the
       rest is left for the next run; the last lines say which
  1    failed; the message says what to do. Run again to go on
  2    wrong option, or input that cannot be read
  3    a batch failed and holds its partition back; the message names it
  130  stopped at once by a second Ctrl-C
`

func printHelp(w io.Writer, fs *flag.FlagSet) {
	io.WriteString(w, helpIntro)
	fs.SetOutput(w)
	fs.PrintDefaults()
	io.WriteString(w, helpOutro)
}
