// Package trial runs a command without real effects and reports what it would have changed.
//
//	result, err := trial.Run(ctx, spec)      // the project is as it was
//	fmt.Print(result.Effects.List)           // every file that the command changed
//	kept, err := result.Layer.Keep(ctx, ...) // now it is real, or
//	err = result.Layer.Discard()             // it never happened
//
// The command runs in the sandbox of internal/hold/sandbox. Each folder that it may write is
// covered by an overlay, and its writes land in a layer next to the project. It reads its
// own changes back and cannot tell the difference, except for the cases in docs/trial.md.
//
// A keep can be undone. So can a call that writes files itself, if it is recorded:
//
//	record, err := trial.Record(ctx, spec) // the old content is saved
//	...                                    // the call writes
//	kept, err := record.Seal(ctx)
//	undone, err := trial.Undo(ctx, trial.UndoSpec{State: state, ID: kept.ID})
//
// Guarantees:
//
//   - Nothing outside the layer changes until Keep is called.
//   - Effects are read by comparing the layer with the folder below it, never from the command's own output. A file
//     rewritten with the same content and attributes is not an effect.
//   - Operations that a layer cannot do like the real folder are detected and listed in [Effects.Differs]. The
//     effects of such a trial can be viewed but not kept.
//   - The digest of the effects identifies exactly the effects that were shown.
//
// Trials need Linux. On other systems Run returns [ErrUnavailable].
package trial
