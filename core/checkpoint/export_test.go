package checkpoint

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
)

// SetFoldFrom makes c fold what waits behind a head from n batches on.
func SetFoldFrom(c *Checkpointer, n int) { c.foldFrom = n }

// Seal puts the checksum of formatted ranges before data.
func Seal(data []byte) []byte {
	sum := binary.LittleEndian.AppendUint32(nil, uint32(xxhash.Sum64(data)))
	return append(sum, data...)
}
