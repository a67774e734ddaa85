package server

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/umpirehq/umpire"
	umpirev1 "github.com/umpirehq/umpire/internal/api/umpire/v1"
	"github.com/umpirehq/umpire/internal/host"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// The values of a failure's reason_code that are not reasons of a decision.
const (
	wordNotFound     = "not_found"
	wordInvalid      = "invalid"
	wordState        = "state"
	wordFenced       = "fenced"
	wordOtherProject = "other_project"
	wordLimit        = "limit"
	wordNotRecorded  = "not_recorded"
	wordCredential   = "credential"
	wordDraining     = "draining"
	wordSlow         = "slow"
	wordCanceled     = "canceled"
	wordDeadline     = "deadline"
	wordInternal     = "internal"
)

// kinds map a gate's errors to the protocol. The first match wins.
var kinds = []struct {
	is   error
	code connect.Code
	word string
}{
	{host.ErrAway, connect.CodeUnavailable, wordDraining},
	{umpire.ErrResolved, connect.CodeFailedPrecondition, string(umpire.CodeResolved)},
	{umpire.ErrChanged, connect.CodeFailedPrecondition, string(umpire.CodeChanged)},
	{umpire.ErrNotRecorded, connect.CodeUnavailable, wordNotRecorded},
	{umpire.ErrFenced, connect.CodeAborted, wordFenced},
	{umpire.ErrNeedsPerson, connect.CodePermissionDenied, wordCredential},
	{umpire.ErrOtherProject, connect.CodePermissionDenied, wordOtherProject},
	{umpire.ErrLimit, connect.CodeResourceExhausted, wordLimit},
	{umpire.ErrNotFound, connect.CodeNotFound, wordNotFound},
	{umpire.ErrInvalid, connect.CodeInvalidArgument, wordInvalid},
	{umpire.ErrState, connect.CodeFailedPrecondition, wordState},
	{context.Canceled, connect.CodeCanceled, wordCanceled},
	{context.DeadlineExceeded, connect.CodeDeadlineExceeded, wordDeadline},
}

// A failure is an error to be sent to a client.
type failure struct {
	code     connect.Code
	word     string
	text     string
	phrase   umpire.Phrase    // the text as data, or ""
	standing *umpire.Standing // the winning answer, if this one was late
	after    int64            // where to resume watching
	resume   bool             // whether after is set
	status   int              // of a unary HTTP response; 0 uses the code's
}

func (f *failure) Error() string { return f.text }

// failureOf converts an error of the gate.
func failureOf(err error) *failure {
	if known, ok := errors.AsType[*failure](err); ok {
		return known
	}
	f := &failure{code: connect.CodeInternal, word: wordInternal, text: err.Error(), phrase: umpire.PhraseOf(err)}
	for _, kind := range kinds {
		if errors.Is(err, kind.is) {
			f.code, f.word = kind.code, kind.word
			break
		}
	}
	// Connect has no code for a conflict.
	if late, ok := errors.AsType[*umpire.ResolvedError](err); ok {
		f.standing, f.status = &late.Standing, http.StatusConflict
	}
	if f.word == string(umpire.CodeChanged) {
		f.status = http.StatusConflict
	}
	return f
}

// failureIn converts a failure that Connect itself detected before calling a handler: a
// body that is too large, or in an unknown compression.
func failureIn(body []byte) *failure {
	f := &failure{code: connect.CodeInvalidArgument, word: wordInvalid}
	var told struct {
		Code connect.Code `json:"code"`
	}
	if json.Unmarshal(body, &told) != nil {
		return f
	}
	for _, kind := range kinds {
		if kind.code == told.Code {
			f.code, f.word = kind.code, kind.word
			break
		}
	}
	return f
}

func invalid(format string, args ...any) error {
	return umpire.Errorf("%w: %w", umpire.Errorf(format, args...), umpire.ErrInvalid)
}

// rpc returns the failure with its detail, in the form of Connect and gRPC.
func (f *failure) rpc() *connect.Error {
	told := connect.NewError(f.code, errors.New(f.text))
	detail := &umpirev1.Failure{ReasonCode: f.word, After: f.after}
	if s := f.standing; s != nil {
		detail.Standing = &umpirev1.Standing{
			RequestId: string(s.Request), Answer: string(s.Choice), Scope: s.Scope.String(),
			Reason:     catalogue.English.Text(s.Reason),
			ReasonCode: string(s.Code), Actor: s.Actor, At: timestamppb.New(s.At),
		}
	}
	if packed, err := connect.NewErrorDetail(detail); err == nil {
		told.AddDetail(packed)
	}
	return told
}

// fields returns the additional fields of a JSON error, each followed by a comma, because
// clients should not need to unpack a protobuf message. With codes, it includes the text
// as data.
func (f *failure) fields(codes bool) []byte {
	fields := append([]byte(`"reason_code":`), strconv.Quote(f.word)...)
	fields = append(fields, ',')
	if phrase, err := json.Marshal(f.phrase); codes && f.phrase != "" && err == nil {
		fields = append(append(append(fields, `"phrase":`...), phrase...), ',')
	}
	if standing := f.standing; standing != nil {
		if !codes {
			standing = catalogue.In(catalogue.English, standing)
		}
		if text, err := json.Marshal(standing); err == nil {
			fields = append(append(append(fields, `"standing":`...), text...), ',')
		}
	}
	if f.resume {
		fields = append(strconv.AppendInt(append(fields, `"after":`...), f.after, 10), ',')
	}
	return fields
}

// An exchange is one request with its client and its failure. It is in the request's
// context.
type exchange struct {
	peer    *peer
	role    role
	codes   bool   // the client wants codes and looks up their texts itself
	claim   string // the client's claimed name
	failure *failure
	body    *timedBody
}

type exchangeKey struct{}

func exchangeOf(ctx context.Context) *exchange {
	if x, ok := ctx.Value(exchangeKey{}).(*exchange); ok {
		return x
	}
	return &exchange{}
}

// noteFailure records the request's failure, and returns the error for Connect.
func noteFailure(ctx context.Context, err error) error {
	f := failureOf(err)
	exchangeOf(ctx).failure = f
	return f.rpc()
}

// errDraining is the response to requests while the server stops.
var errDraining = &failure{code: connect.CodeUnavailable, word: wordDraining, text: "the gate is shutting down"}

func wrongMethod(want string) *failure {
	return &failure{
		code: connect.CodeInvalidArgument, status: http.StatusMethodNotAllowed, word: wordInvalid, text: "want " + want,
	}
}

// A refuser writes a failure in the request's protocol.
type refuser struct {
	errors *connect.ErrorWriter
	log    *slog.Logger
}

// refuse answers a request that does not call a procedure.
func (e refuser) refuse(w http.ResponseWriter, r *http.Request, err error) {
	e.writeFailure(w, r, exchangeOf(r.Context()), failureOf(err))
}

func (e refuser) writeFailure(w http.ResponseWriter, r *http.Request, x *exchange, f *failure) {
	x.failure = f
	if err := e.errors.Write(w, r, f.rpc()); err != nil {
		e.log.Debug("answering a failed request", "error", err)
	}
}
