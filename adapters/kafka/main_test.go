package kafka_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/tidemark-go/tidemark/adapters/kafka/internal/brokertest"
)

func TestMain(m *testing.M) {
	if err := brokertest.Select("newBroker"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}
