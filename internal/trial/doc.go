// Package trial runs a command where nothing that it does is real, and says what it did.
//
//	result, err := trial.Run(ctx, spec)      // the project is as it was
//	fmt.Print(result.Effects.List)           // every file that the command changed
//	kept, err := result.Layer.Keep(ctx, ...) // now it is real, or
//	err = result.Layer.Discard()             // it never happened
//
// The command runs in the sandbox of internal/sandbox. In place of the folders that it
// may write it sees an overlay over each of them, so that what it writes lands in a layer
// beside the project. It reads its own changes back and cannot tell the difference, but
// for what docs/trial.md lists.
//
// What was kept can be undone. So can a call that writes files itself, if it is recorded:
//
//	record, err := trial.Record(ctx, spec) // what stands there is safe
//	...                                    // the call writes
//	kept, err := record.Seal(ctx)
//	undone, err := trial.Undo(ctx, trial.UndoSpec{State: state, ID: kept.ID})
//
// What the package keeps true:
//
//   - Nothing outside the layer changes until somebody calls Keep.
//   - Effects are read from the layer with the folder underneath beside it, never from
//     what the command says of itself. A file that was written with the content and the
//     attributes that it had is not an effect.
//   - What a layer cannot do as the real folder would is noticed and listed in
//     [Effects.Differs]. Such a trial can be looked at, and is not kept.
//   - The digest of the effects names exactly what was shown.
//
// Only Linux has what this takes. Elsewhere Run returns [ErrUnavailable].
package trial
