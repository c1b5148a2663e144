package chaos

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// memberVariable makes the test binary a member of the group: it holds a
// memberConfig.
const memberVariable = "TIDEMARK_CHAOS_MEMBER"

func TestMain(m *testing.M) {
	if text := os.Getenv(memberVariable); text != "" {
		var cfg memberConfig
		if err := json.Unmarshal([]byte(text), &cfg); err != nil {
			fmt.Fprintln(os.Stderr, memberVariable, err)
			os.Exit(2)
		}
		os.Exit(cfg.run())
	}
	goleak.VerifyTestMain(m)
}
