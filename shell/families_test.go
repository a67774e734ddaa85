package shell

import (
	"strings"
	"testing"
)

// lookingFamilies are lines that only look, with variations of each that do more. X stands for
// the line itself.
var lookingFamilies = []struct{ looks, acts string }{
	{
		"sg -p 'foo($A)' -l js; sg --pattern 'a' src; sg run -p a --json; sg scan; " +
			"ast-grep -p a -r b; ast-grep scan src; " +
			"ast-grep run --pattern a --lang ts -A 2 src",
		"X -U; X --update-all; X -i; X --interactive; X -c x.yml; X -cx.yml; X --config=x.yml; X $Y; X > ../x",
	},
	{
		"sg", "X docker -c ls; X docker ls; X - root; X root; X -; X docker -c 'docker run x'; " +
			"X -c ls; X $Y -p a; X new -p a; " +
			"X lsp; X test; X docker run; X -l js docker",
	},
	{"ast-grep -p a", "ast-grep new; ast-grep lsp; ast-grep test; ast-grep test -U; X --no-such"},
	{
		"gotestsum; gotestsum ./...; gotestsum --format dots -- -run TestX -count=1 ./...; gotestsum -- -short ./a",
		"gotestsum --post-run-command ./x; gotestsum --junitfile x; gotestsum --raw-command -- ./x; " +
			"gotestsum --watch; " +
			"gotestsum -- -exec ./x; gotestsum -- -toolexec ./x; gotestsum -- ./... -args -update; " +
			"gotestsum -- -coverprofile=x; " +
			"gotestsum tool slowest; gotestsum --jsonfile x; gotestsum $Y; GOFLAGS=-exec=./x gotestsum",
	},
	{
		"kubectl create ns x --dry-run=client -o yaml; kubectl run x --image=y --dry-run=client --output=json; " +
			"kubectl -n a create deployment x --image=y -o yaml --dry-run=client",
		"X --dry-run=none; X --dry-run=server; X --dry-run; X --context=x; X --server=http://evil; " +
			"X -f x.yml; X --from-file=x; " +
			"X --edit; X --save-config; X --raw=/api; X --as=x; X --kubeconfig=x; X -k .; " +
			"X --dry-run=$Y; X --attach; X --overrides={}",
	},
	{"kubectl get pods", "kubectl create ns x -o yaml; kubectl create ns x -n client -o yaml; " +
		"kubectl create ns x --dry-run=client; " +
		"kubectl create ns client --dry-run -o yaml; kubectl delete ns x --dry-run=client -o yaml; " +
		"kubectl apply -f x --dry-run=client"},
	{
		"sinfo; sinfo -N -l; sinfo -o %P -p gpu; squeue; squeue --me; squeue -u me -j 1 -o '%i'",
		"X -M other; X --clusters=other; X --json=../x; X --no-such; X x; scancel 1; sbatch x.sh; " +
			"srun ls; scontrol update x",
	},
	{
		"redis-cli --bigkeys; redis-cli --memkeys; redis-cli --scan --pattern 'a*'; redis-cli -n 2 --hotkeys",
		"X flushall; X del a; X --eval x.lua; X -h evil.example; X -u redis://evil; X --rdb x; X --pipe; X $Y",
	},
	{
		"aws s3api head-bucket --bucket x; aws s3api head-bucket --bucket x --region y --output json",
		"X --endpoint-url http://evil; X --no-verify-ssl; X --bucket http://evil; aws s3api put-object --bucket x; " +
			"aws s3api get-object --bucket x --key y out; aws secretsmanager head-secret",
	},
}

func TestFamiliesOfLooks(t *testing.T) {
	t.Parallel()
	for _, family := range lookingFamilies {
		for line := range strings.SplitSeq(family.looks, "; ") {
			if line != "sg" && !asksNothing(Parse(line, neverSafeEnv)) {
				t.Errorf("asks: %s: %+v", line, Parse(line, neverSafeEnv))
			}
			for variation := range strings.SplitSeq(family.acts, "; ") {
				if acts := strings.Replace(variation, "X", line, 1); runsUnasked(acts) {
					t.Errorf("runs unasked: %s", acts)
				}
			}
		}
	}
}
