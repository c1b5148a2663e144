package checkpointtest

import "testing"

func TestSuitePassesOnTheModel(t *testing.T) {
	t.Parallel()
	Run(t, ModelSubject())
}
