package mint

import (
	"fmt"
	"strings"
	"time"

	"macaron/internal/errs"
)

// Trainers is how many operations of models run at once where nothing else is said. They take
// turns of a few milliseconds on the engine.
const Trainers = 3

// Limits bound what clients may have the service keep and do. Zero values choose.
type Limits struct {
	SessionExpiry time.Duration // of silence that end a session; 5 min
	Grace         time.Duration // that results are kept after the end of their session; 1 h
	SamplerIdle   time.Duration // after which a state that was not saved is let go; 2 h
	Sessions      int           // of an owner that live; 100
	Models        int           // of an owner that live; 64
	Futures       int           // of an owner that are pending; 10,000
	Ahead         int           // operations of a model that wait for their turn; 4,096
	AheadBytes    int64         // that all waiting operations of all owners take; 1 GiB
	Trainers      int           // operations of models that run at once, the last place for an owner who has none; 3
	Samples       int           // sampling requests that run at once; 32
	Resident      int           // models whose optimizer is in memory; 8
	ResidentBytes int64         // that they take together, and what one may take; 4 GiB
	IdleModel     time.Duration // after which one leaves memory; 10 min
	SnapshotSteps int64         // optimizer steps between snapshots, at most; 50
	SnapshotWork  time.Duration // of work that a restart may have to do again; 30 s
	KeptBytes     int64         // of results that stay in memory beside the store; 64 MiB
	Lease         time.Duration // of the work, among processes of one database; 30 s
	UploadBytes   int64         // of an uploaded adapter, unpacked, and of all that are under way; 4 GiB
}

// holds refuses an adapter whose training takes more memory than all may.
func (l *Limits) holds(bytes int64) error {
	if bytes > l.ResidentBytes {
		return errs.New(errs.TooLarge, fmt.Sprintf("training this adapter takes %d MB; %d MB are allowed", bytes>>20, l.ResidentBytes>>20),
			"choose a lower rank or fewer modules, or have mint.resident_bytes raised").In("rank")
	}
	return nil
}

func orElse[T comparable](v *T, otherwise T) {
	var zero T
	if *v == zero {
		*v = otherwise
	}
}

func (l *Limits) setDefaults() {
	orElse(&l.SessionExpiry, 5*time.Minute)
	orElse(&l.Grace, time.Hour)
	orElse(&l.SamplerIdle, 2*time.Hour)
	orElse(&l.Sessions, 100)
	orElse(&l.Models, 64)
	orElse(&l.Futures, 10_000)
	orElse(&l.Ahead, 4096)
	orElse(&l.AheadBytes, 1<<30)
	orElse(&l.Trainers, Trainers)
	orElse(&l.Samples, 32)
	orElse(&l.Resident, 8)
	orElse(&l.ResidentBytes, 4<<30)
	orElse(&l.IdleModel, 10*time.Minute)
	orElse(&l.SnapshotSteps, 50)
	orElse(&l.SnapshotWork, 30*time.Second)
	orElse(&l.KeptBytes, 64<<20)
	orElse(&l.Lease, 30*time.Second)
	orElse(&l.UploadBytes, 4<<30)
}

// full is a refusal for now.
func full(what string, limit any, next string) error {
	e := errs.New(errs.Overloaded, fmt.Sprintf("%s: the limit is %v", what, limit), next)
	e.RetryAfter = time.Second
	return e
}

func unknownBase(base string, known []string) error {
	return errs.New(errs.ModelNotFound, fmt.Sprintf("there is no base model %q here", errs.Clip(base)), "known are "+strings.Join(known, ", ")).In("base_model")
}
