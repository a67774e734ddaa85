// Package docedit reads and edits settings files that belong to other people: JSON with comments
// and trailing commas, TOML and YAML.
//
// [Open] parses a file to a tree of values with their positions. [Value.Decode] stores a value in
// Go's types, and refuses keys that those do not have. [Doc.Set], [Doc.Append] and [Doc.Delete]
// change one value, and [Doc.PutBlock] and [Doc.CutBlock] the lines between two comments.
//
// An edit returns a new document and leaves the old one alone. It keeps every byte that does not
// belong to its value: comments, order, blank lines, line ends and trailing commas. Deleting an
// appended value restores the file. Each edit parses its result, and fails unless only the value
// has changed.
package docedit
