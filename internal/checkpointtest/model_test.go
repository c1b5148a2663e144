package checkpointtest

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSuitePassesOnTheModel(t *testing.T) {
	Run(t, ModelSubject())
}
