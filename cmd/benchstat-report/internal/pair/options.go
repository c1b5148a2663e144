package pair

// Provenance are the configuration keys that say where, when and on which tree
// something was measured. They tell no tables apart unless a projection names
// them: two commits are compared in one table. A key that ends in * stands for
// all keys that begin so.
var Provenance = []string{
	"commit", "commit-date", "commit-time", "commit-subject", "branch", "dirty", "date", "time", "run", "leg", "arm", "ref", "seq",
	"round", "load*", "bounce-ns", "cores", "go", "kernel", "clocksource", "cgroup*", "quota*", "command", "base", "timeout",
}
