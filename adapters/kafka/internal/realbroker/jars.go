package realbroker

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// pom names the broker and its version.
//
//go:embed pom.xml
var pom []byte

// ErrMissingTool means that java or mvn is not installed, or too old.
var ErrMissingTool = errors.New("realbroker: a tool is missing")

// minJava is the first Java that brokers of Kafka 4 run on.
const minJava = 17

var javaVersion = regexp.MustCompile(`version "(\d+)`)

// CheckTools says what has to be installed, if anything.
func CheckTools(ctx context.Context) error {
	if _, err := exec.LookPath("java"); err != nil {
		return fmt.Errorf("%w: java: %w; install a JDK, version %d or later (Debian: openjdk-17-jdk-headless)", ErrMissingTool, err, minJava)
	}
	text, err := exec.CommandContext(ctx, "java", "-version").CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: java -version: %w: %s", ErrMissingTool, err, tail(text, 3))
	}
	if m := javaVersion.FindSubmatch(text); m != nil {
		if n, err := strconv.Atoi(string(m[1])); err == nil && n < minJava {
			return fmt.Errorf("%w: java is version %d; install a JDK, version %d or later, and put it first in PATH", ErrMissingTool, n, minJava)
		}
	}
	if _, err := exec.LookPath("mvn"); err != nil {
		return fmt.Errorf("%w: mvn: %w; install Maven (Debian: maven)", ErrMissingTool, err)
	}
	return nil
}

// DefaultCache is where Jars keeps what it copied: in the user's cache, so
// that a fresh clone finds it.
func DefaultCache() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("realbroker: no cache directory: %w; name one", err)
	}
	return filepath.Join(dir, "tidemark"), nil
}

// Jars returns a directory with the jars of the broker, below cache. It asks
// Maven for them once; they are named after the content of the pom, so a new
// version is a new directory.
func Jars(ctx context.Context, cache string) (string, error) {
	digest := sha256.Sum256(pom)
	dir, err := filepath.Abs(filepath.Join(cache, "broker-"+hex.EncodeToString(digest[:6])))
	if err != nil {
		return "", fmt.Errorf("realbroker: cache directory %q: %w", cache, err)
	}
	if _, err := os.Stat(dir); err == nil {
		return dir, nil // it appears only when it is complete
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", fmt.Errorf("realbroker: cache directory: %w", err)
	}
	work, err := os.MkdirTemp(filepath.Dir(dir), "copying-")
	if err != nil {
		return "", fmt.Errorf("realbroker: cache directory: %w", err)
	}
	defer os.RemoveAll(work)
	if err := os.WriteFile(filepath.Join(work, "pom.xml"), pom, 0o644); err != nil {
		return "", fmt.Errorf("realbroker: cache directory: %w", err)
	}
	copied := filepath.Join(work, "jars")
	mvn := exec.CommandContext(ctx, "mvn", "--batch-mode", "--quiet", "--file", filepath.Join(work, "pom.xml"),
		"dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory="+copied)
	mvn.WaitDelay = waitDelay
	if text, err := mvn.CombinedOutput(); err != nil {
		return "", fmt.Errorf("realbroker: mvn could not copy the broker's jars: %w; it says:\n%s", err, tail(text, 20))
	}
	// Somebody else may have been faster, with the same result.
	if err := os.Rename(copied, dir); err != nil {
		if _, there := os.Stat(dir); there != nil {
			return "", fmt.Errorf("realbroker: cache directory: %w", err)
		}
	}
	return dir, nil
}

// tail returns the last n lines of a program's output.
func tail(text []byte, n int) string {
	lines := strings.Split(strings.TrimSpace(string(bytes.ToValidUTF8(text, nil))), "\n")
	return strings.Join(lines[max(len(lines)-n, 0):], "\n")
}
