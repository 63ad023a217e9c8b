package stage

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// hashLength is how much of a digest a shortened name ends in.
const hashLength = 8

// PieceName returns the name of one of the objects that a Kruise object becomes:
// OWNER-PIECE where that is legal, else its beginning with a hash of the whole.
// limit is the longest name; hostnames forbids dots.
func PieceName(owner, piece string, limit int, hostnames bool) string {
	whole := owner + "-" + piece
	legal := whole
	if hostnames {
		legal = strings.ReplaceAll(whole, ".", "-")
	}
	if legal == whole && len(whole) <= limit {
		return whole
	}
	sum := sha256.Sum256([]byte(owner + "\x00" + piece))
	keep := min(len(legal), limit-hashLength-1)
	return strings.TrimRight(legal[:keep], "-.") + "-" + hex.EncodeToString(sum[:])[:hashLength]
}
