package render

import (
	"encoding/json"
	"io"
	"math"

	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/pair"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/verdict"
)

// version is that of the JSON shape.
const version = 1

// num is a number that JSON may lack a form for.
type num float64

// MarshalJSON writes null for NaN and the infinities.
func (n num) MarshalJSON() ([]byte, error) {
	if v := float64(n); !math.IsNaN(v) && !math.IsInf(v, 0) {
		return json.Marshal(v)
	}
	return []byte("null"), nil
}

func emit(w io.Writer, document any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	e.SetEscapeHTML(false)
	return e.Encode(document)
}

type jsonOptions struct {
	Alpha      num                `json:"alpha"`
	Confidence num                `json:"confidence"`
	Floor      num                `json:"floor"`
	Near       num                `json:"near_ns"`
	Correct    verdict.Correction `json:"correct"`
	Seed       uint64             `json:"seed"`
	Noise      bool               `json:"noise_measured"`
}

func optionsOf(o verdict.Options) jsonOptions {
	return jsonOptions{num(o.Alpha), num(o.Confidence), num(o.Floor), num(o.Near), o.Correct, o.Seed, o.Noise != nil}
}

type jsonSummary struct {
	Center  num   `json:"center"`
	Lo      num   `json:"lo"`
	Hi      num   `json:"hi"`
	N       int   `json:"n"`
	Near    int   `json:"near"`
	Far     int   `json:"far"`
	Samples []num `json:"samples"`
}

func summaryOf(s verdict.Summary) jsonSummary {
	out := jsonSummary{num(s.Center), num(s.Lo), num(s.Hi), s.N, s.NearN, s.FarN, []num{}}
	for _, x := range s.Samples {
		out.Samples = append(out.Samples, num(x.Value))
	}
	return out
}

type jsonCounts struct {
	Faster        int `json:"faster"`
	Slower        int `json:"slower"`
	Same          int `json:"same"`
	Undecided     int `json:"undecided"`
	NotComparable int `json:"not_comparable"`
}

type jsonLabel struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

func labelsOf(list []pair.KeyValue) []jsonLabel {
	out := []jsonLabel{}
	for _, l := range list {
		out = append(out, jsonLabel(l))
	}
	return out
}

func configOf(list []pair.KeyValue) map[string]string {
	m := map[string]string{}
	for _, kv := range list {
		m[kv.Key] = kv.Value
	}
	return m
}

type jsonComparison struct {
	Column   string          `json:"column"`
	Baseline string          `json:"baseline"`
	Base     jsonSummary     `json:"base"`
	New      jsonSummary     `json:"new"`
	Regime   verdict.Regime  `json:"regime"`
	Ratio    num             `json:"ratio"`
	Change   num             `json:"change"`
	Lo       num             `json:"change_lo"`
	Hi       num             `json:"change_hi"`
	P        num             `json:"p"`
	Adjusted num             `json:"p_adjusted"`
	Floor    num             `json:"floor"`
	Verdict  verdict.Verdict `json:"verdict"`
	Reason   string          `json:"reason"`
	Needed   int             `json:"samples_needed"`
}

type jsonRow struct {
	Name        string           `json:"name"`
	Topic       string           `json:"topic"`
	Labels      []jsonLabel      `json:"labels"`
	Comparisons []jsonComparison `json:"comparisons,omitempty"`
	Cells       []jsonCell       `json:"cells,omitempty"`
}

type jsonTable struct {
	Unit    string            `json:"unit"`
	Tidy    string            `json:"tidy_unit"`
	Better  string            `json:"better"`
	Exact   bool              `json:"exact"`
	Config  map[string]string `json:"config"`
	Columns []string          `json:"columns"`
	Rows    []jsonRow         `json:"rows"`
}

func tableOf(t *pair.Table) jsonTable {
	return jsonTable{t.Unit, t.Tidy, better(t.Better), t.Exact, configOf(t.Config), t.Columns, []jsonRow{}}
}

type jsonTopic struct {
	Name     string            `json:"name"`
	Config   map[string]string `json:"config"`
	Unit     string            `json:"unit"`
	Better   string            `json:"better"`
	Column   string            `json:"column"`
	Baseline string            `json:"baseline"`
	Ratio    num               `json:"ratio"`
	Lo       num               `json:"lo"`
	Hi       num               `json:"hi"`
	Rows     int               `json:"rows"`
	Counts   jsonCounts        `json:"counts"`
}

type jsonReport struct {
	Version   int               `json:"version"`
	Kind      string            `json:"kind"`
	Options   jsonOptions       `json:"options"`
	ColumnKey string            `json:"column_key"`
	Machine   map[string]string `json:"machine"`
	Warnings  []string          `json:"warnings"`
	Counts    jsonCounts        `json:"counts"`
	Tables    []jsonTable       `json:"tables"`
	Topics    []jsonTopic       `json:"topics"`
}

// JSON writes a comparison for a program.
func JSON(w io.Writer, r *verdict.Report) error {
	doc := jsonReport{
		version, "compare", optionsOf(r.Options), r.ColumnKey, configOf(r.Machine), append([]string{}, r.Warnings...),
		jsonCounts(r.Counts), []jsonTable{}, []jsonTopic{},
	}
	for _, t := range r.Tables {
		jt := tableOf(t.Table)
		for _, row := range t.Rows {
			jr := jsonRow{Name: row.Name, Topic: row.Topic, Labels: labelsOf(row.Labels)}
			for _, c := range row.Comparisons {
				jr.Comparisons = append(jr.Comparisons, jsonComparison{
					c.Column, c.BaseColumn, summaryOf(c.Base), summaryOf(c.New), c.Regime, num(c.Ratio), num(c.Change),
					num(c.Lo), num(c.Hi), num(c.P), num(c.Adjusted), num(c.Floor), c.Verdict, c.Reason, c.Needed,
				})
			}
			jt.Rows = append(jt.Rows, jr)
		}
		doc.Tables = append(doc.Tables, jt)
	}
	for _, t := range r.Topics {
		doc.Topics = append(doc.Topics, jsonTopic{
			t.Name, configOf(t.Config), t.Unit, better(t.Better), t.Column, t.BaseColumn, num(t.Ratio), num(t.Lo), num(t.Hi), t.Rows, jsonCounts(t.Counts),
		})
	}
	return emit(w, doc)
}
