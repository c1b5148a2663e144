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
}
