package split

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// hashLength is how much of a digest a shortened name ends in.
const hashLength = 8

// name returns the name of a subset's workload: OWNER-SUBSET where that is
// legal for the form, else its beginning with a hash of the whole.
func (f form) name(owner, subset string) string {
	whole := owner + "-" + subset
	legal := whole
	if f.hostnames {
		legal = strings.ReplaceAll(whole, ".", "-")
	}
	if legal == whole && len(whole) <= f.nameLimit {
		return whole
	}
	sum := sha256.Sum256([]byte(owner + "\x00" + subset))
	keep := min(len(legal), f.nameLimit-hashLength-1)
	return strings.TrimRight(legal[:keep], "-.") + "-" + hex.EncodeToString(sum[:])[:hashLength]
}
