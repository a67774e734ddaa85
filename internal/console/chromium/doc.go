// Package chromium drives a real browser in tests: a headless Chromium, by the DevTools protocol over a
// pipe. UMPIRE_PICTURES names a folder for the pictures that tests take.
package chromium
