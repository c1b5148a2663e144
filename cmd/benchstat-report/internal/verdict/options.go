package verdict

// Correction is how p-values are corrected for the number of rows.
type Correction string

// The corrections.
const (
	Holm Correction = "holm"
	None Correction = "none"
)

// Options are what the caller may choose.
type Options struct {
	// Alpha is the level of the tests, Confidence that of all intervals.
	Alpha, Confidence float64
	// Floor is the smallest change that counts, as a fraction.
	Floor float64
	// Near is the cache-line bounce in nanoseconds below which cores are near.
	Near    float64
	Correct Correction
	// Seed makes the bootstrap: equal seeds give equal reports.
	Seed uint64
	// Noise is what an A/A run measured; nil if there is none.
	Noise Noise
}

// Defaults returns the options of a caller who chooses nothing; near is the
// border of the near regime in nanoseconds.
func Defaults(near float64) Options {
	return Options{Alpha: 0.05, Confidence: 0.95, Floor: 0.03, Near: near, Correct: Holm, Seed: 1}
}
