package docedit

import "strings"

// maxKeyLength is the longest key that is compared with the known ones: none of them is near a
// longer one.
const maxKeyLength = 32

// Nearest returns the known key that key is, or is probably meant to be, or "".
func Nearest(key string, known []string) string {
	if key == "" || len(key) > maxKeyLength {
		return ""
	}
	best, bestDistance := "", 1+len(key)/3
	for _, k := range known {
		if key == k {
			return k
		}
		if d := editDistance(PlainKey(key), PlainKey(k)); d < bestDistance || d == 0 {
			best, bestDistance = k, d
		}
	}
	return best
}

// PlainKey removes common variations in guessed keys.
func PlainKey(key string) string { return strings.ToLower(separators.Replace(key)) }

var separators = strings.NewReplacer("_", "", "-", "")

// editDistance counts the letters to add, drop or change to get from a to b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
