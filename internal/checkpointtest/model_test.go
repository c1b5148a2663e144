package checkpointtest

import "testing"

func TestSuitePassesOnTheModel(t *testing.T) {
	Run(t, ModelSubject())
}
