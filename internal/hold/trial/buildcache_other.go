//go:build !linux

package trial

// dropCache does nothing because this system does not support trials.
func dropCache(string, string) error { return nil }
