package brokertest

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const source = `package p
func TestDirect(t *testing.T)  { newBroker(t, 1); newBroker(t, 2) }
func TestNested(t *testing.T)  { t.Run("x", func(t *testing.T) { c := newBroker(t, 1); _ = c }) }
func TestOther(t *testing.T)   { newCluster(t) }
func TestValue(t *testing.T)   { each(t, newBroker) }
func (s) TestNone(t *testing.T) { newBroker(t, 1) }
func helper(t *testing.T)      { newBroker(t, 1) }
`

func TestUsersAreTheTestsThatNameTheFunction(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a_test.go"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := users(dir, "newBroker")
	if want := []string{"TestDirect", "TestNested", "TestValue"}; err != nil || !slices.Equal(got, want) {
		t.Fatalf("users are %v, %v, want %v", got, err, want)
	}
}

func TestUniqueNamesDiffer(t *testing.T) {
	if a, b := Unique("x"), Unique("x"); a == b {
		t.Fatalf("%s twice", a)
	}
}

func TestAddrsAreListed(t *testing.T) {
	t.Setenv(Variable, "a:1,b:2")
	if got := Addrs(); !slices.Equal(got, []string{"a:1", "b:2"}) {
		t.Fatalf("got %v", got)
	}
	t.Setenv(Variable, "")
	if got := Addrs(); got != nil {
		t.Fatalf("got %v", got)
	}
}
