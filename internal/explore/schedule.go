package explore

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// ScheduleVariable is the environment variable that makes Run repeat one
// execution: "configuration:schedule", as a failure prints it.
const ScheduleVariable = "TIDEMARK_SCHEDULE"

// formatSchedule writes who goes when: a letter for the thread, and how many
// times in a row if that is not once.
func formatSchedule(s []uint8) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		n := 1
		for i+n < len(s) && s[i+n] == s[i] {
			n++
		}
		b.WriteString(name(int(s[i])))
		if n > 1 {
			b.WriteString(strconv.Itoa(n))
		}
		i += n
	}
	return b.String()
}

// parseSchedule reads what formatSchedule writes.
func parseSchedule(text string) ([]uint8, error) {
	var s []uint8
	for i := 0; i < len(text); {
		id := text[i] - 'a'
		if id >= MaxThreads {
			return nil, fmt.Errorf("explore: schedule %q has %q at %d, legal are the letters a to %s and counts", text, text[i], i, name(MaxThreads-1))
		}
		end := i + 1
		for end < len(text) && text[end] >= '0' && text[end] <= '9' {
			end++
		}
		n := 1
		if end > i+1 {
			var err error
			if n, err = strconv.Atoi(text[i+1 : end]); err != nil || n < 1 || n > maxSteps {
				return nil, fmt.Errorf("explore: schedule %q has the count %q, legal are 1 to %d", text, text[i+1:end], maxSteps)
			}
		}
		for range n {
			s = append(s, id)
		}
		i = end
	}
	return s, nil
}

// wanted returns the schedule that the environment asks for if it is one of
// this configuration.
func wanted(configuration string) (schedule string, ok bool, err error) {
	text := os.Getenv(ScheduleVariable)
	if text == "" {
		return "", false, nil
	}
	of, schedule, found := strings.Cut(text, ":")
	if !found {
		return "", false, fmt.Errorf("explore: %s is %q, legal is configuration:schedule", ScheduleVariable, text)
	}
	return schedule, of == configuration, nil
}

// repeat follows a schedule and writes down what happens.
type repeat struct {
	schedule []uint8
	at       int
	trace    []string
}

func (p *repeat) pick(r *run, enabled set) int {
	if p.at == len(p.schedule) {
		r.fail(fmt.Sprintf("the schedule ends after %d choices and the program does not", p.at))
		return -1
	}
	id := int(p.schedule[p.at])
	if !enabled.has(id) {
		r.fail(fmt.Sprintf("the schedule does not fit the program: choice %d is thread %s, which cannot go", p.at, name(id)))
		return -1
	}
	p.at++
	p.trace = append(p.trace, r.threads[id].describe())
	return id
}

func (p *repeat) end(*run) {}
