// Command gen writes the bundled access log to the file it is given.
package main

import (
	"fmt"
	"os"

	"github.com/tidemark-go/tidemark/adapters/kafka/internal/sample"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "gen: want one argument, the file to write")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func write(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := sample.Write(f, sample.Lines, sample.Seed); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
