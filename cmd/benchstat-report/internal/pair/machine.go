package pair

import (
	"fmt"
	"slices"
	"strings"
)

// moments are the keys that differ between equal measurements.
var moments = []string{"seq", "round", "load*", BounceUnit}

// volatile are the keys that belong to a moment of the run, or to a benchmark.
var volatile = append(slices.Clip(moments), legKey, "cores")

// machine returns the configuration lines that all results agree on.
func (b *builder) machine() []KeyValue {
	var list []KeyValue
	for _, c := range b.used[0].Config {
		if c.File && !matches(volatile, c.Key) {
			list = append(list, KeyValue{c.Key, string(c.Value)})
		}
	}
	for _, r := range b.used {
		list = slices.DeleteFunc(list, func(kv KeyValue) bool { return r.GetConfig(kv.Key) != kv.Value })
	}
	return list
}

// notes returns what the reader should know about the columns.
func (b *builder) notes() []string {
	var notes []string
	values := map[string]map[string][]string{} // key, column
	var keys, columns []string
	for _, r := range b.used {
		column := keyName(b.col.Project(r.Result))
		if !slices.Contains(columns, column) {
			columns = append(columns, column)
		}
		for _, c := range r.Config {
			note := matches(noted, c.Key) || c.Key == "dirty" && string(c.Value) == "true"
			if !c.File || !note {
				continue
			}
			if values[c.Key] == nil {
				values[c.Key] = map[string][]string{}
				keys = append(keys, c.Key)
			}
			if v := string(c.Value); !slices.Contains(values[c.Key][column], v) {
				values[c.Key][column] = append(values[c.Key][column], v)
			}
		}
	}
	for _, key := range keys {
		var parts []string
		same := true
		for _, column := range columns {
			own := strings.Join(values[key][column], " and ")
			same = same && own == strings.Join(values[key][columns[0]], " and ")
			if own == "" {
				own = "none"
			}
			parts = append(parts, column+": "+own)
		}
		switch {
		case key == "dirty":
			var dirty []string
			for _, column := range columns {
				if len(values[key][column]) > 0 {
					dirty = append(dirty, column)
				}
			}
			notes = append(notes, fmt.Sprintf("measured on a tree that was changed since its commit: %s", strings.Join(dirty, ", ")))
		case !same:
			notes = append(notes, fmt.Sprintf("%s differs: %s", key, strings.Join(parts, "; ")))
		}
	}
	return notes
}
