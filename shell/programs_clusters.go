package shell

import (
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

const (
	looksAtCluster  = "looks at a cluster"
	changesCluster  = "changes what runs in a cluster, or runs in it"
	changesServices = "changes infrastructure"
	printsOutputs   = "prints outputs and settings, those that are marked as sensitive too"
	kubeOpts        = "-n --namespace --request-timeout -v --v"
)

// kubeLooks are the options of kubectl's commands that look.
var kubeLooks = []option{
	{flags: "-A --all-namespaces --show-labels --no-headers --show-kind --ignore-not-found --recursive --cached " +
		"--client --short --containers --sum --show-managed-fields --show-events --timestamps --all-containers -p " +
		"--previous --prefix -w --watch --ignore-errors --minify --flatten --output-watch-events -R --no-color",
		values: kubeOpts + " -o --output -l --selector --field-selector --sort-by -L --label-columns --chunk-size " +
			"--api-version --api-group --verbs --tail --since --since-time -c --container --limit-bytes " +
			"--max-log-requests --subresource --types", attached: "--namespaced", does: plain},
}

// clusterTools are the programs that manage clusters and infrastructure.
var clusterTools = []program{
	// asks: kubectl delete pod x
	{
		names: "kubectl oc k3s-kubectl microk8s.kubectl", risk: umpire.High, consequence: sent, why: changesCluster,
		style: leading, about: "--help -h", opts: []option{
			{values: kubeOpts, does: plain},
			{flags: "--insecure-skip-tls-verify", values: "--context --cluster --user -s --server --token --as " +
				"--as-group --kubeconfig --certificate-authority --client-certificate --client-key", does: asks,
				consequence: sent, why: "talks to another cluster or as another user"},
		},
		subs: []program{
			// safe: kubectl get pods
			{
				names: "get describe", each: true, risk: umpire.Low, why: looksAtCluster, check: checkKubeGet,
				about: "--help -h", also: []*[]option{&kubeLooks}, opts: []option{
					{flags: "--insecure-skip-tls-verify", values: kubeElsewhere, does: asks, consequence: sent,
						why: "talks to another cluster or as another user"},
					{values: "--raw -f --filename -k --kustomize --template", does: asks, consequence: harmless,
						why: "reads out what it names"},
				},
			},
			{
				names: "logs version explain api-resources api-versions cluster-info top events options", each: true,
				risk: umpire.Low, why: looksAtCluster, check: checkKubeDump,
				about: "--help -h", also: []*[]option{&kubeLooks}, opts: []option{
					{flags: "-f --follow", does: plain},
					{flags: "--insecure-skip-tls-verify", values: kubeElsewhere, does: asks, consequence: sent,
						why: "talks to another cluster or as another user"},
				},
			},
			{
				names: "config", risk: umpire.High, consequence: reversible, why: "changes which cluster is talked to",
				style: leading,
				subs: []program{
					{
						names: "view current-context get-contexts get-clusters get-users", each: true, risk: umpire.Low,
						why: looksAtCluster, opts: []option{
							{flags: "--minify --no-headers", values: "-o --output", does: plain},
							{flags: "--raw --flatten", does: asks, consequence: harmless, why: "prints credentials"},
						},
					},
				},
			},
			{names: "auth", risk: umpire.High, consequence: sent, why: changesCluster, style: leading, subs: []program{
				{names: "can-i whoami", each: true, risk: umpire.Low, why: looksAtCluster,
					opts: []option{
						{flags: "--list -A --all-namespaces -q --quiet", values: kubeOpts + " -o --output",
							does: plain},
					}},
			}},
			{
				names: "rollout", risk: umpire.High, consequence: sent, why: changesCluster, style: leading,
				subs: []program{
					{names: "status history", each: true, risk: umpire.Low, why: looksAtCluster,
						also: []*[]option{&kubeLooks}, opts: []option{{values: "--timeout --revision", does: plain}}},
				},
			},
			// safe: kubectl create ns x --dry-run=client -o yaml
			// asks: kubectl create ns x
			// asks: kubectl create cm x --from-file=x --dry-run=client
			{names: "create run", each: true, risk: umpire.High, consequence: sent, why: changesCluster,
				check: checkDryRun, opts: []option{
					{values: kubeOpts + " --dry-run -o --output --image --port --replicas --tcp --from-literal " +
						"--schedule", does: plain},
				}},
			{
				names: "diff", risk: umpire.Medium, consequence: sent,
				why: "compares files with a cluster, with a program of the environment", lax: true,
				opts: []option{{values: "-f --filename -k --kustomize", does: reads}},
			},
			{names: "kustomize", risk: umpire.Medium, consequence: reversible,
				why: "builds manifests, whose plugins can run", lax: true},
			{
				names: "exec", risk: umpire.High, consequence: sent, why: changesCluster, check: checkKubeExec,
				opts: []option{
					{flags: "-i -t --stdin --tty -q --quiet",
						values: kubeOpts + " -c --container -f --filename --pod-running-timeout", does: plain},
				},
			},
		},
	},
	// safe: sinfo -N -l
	// asks: sinfo -M other
	{names: "sinfo", risk: umpire.Low, why: looksAtCluster, args: "none", about: "--help -V --version",
		opts: []option{
			{flags: "-a -l -N -R -s -h -e", values: "-o --format -p --partition -t --states -n -S", does: plain},
		}},
	// safe: squeue --me -o '%i %j'
	// asks: squeue -M other
	{names: "squeue", risk: umpire.Low, why: looksAtCluster, args: "none", about: "--help -V --version",
		opts: []option{
			{flags: "-a -l -h -s --me --start",
				values: "-o --format -p --partition -t --states -u --user -j --jobs -w -S", does: plain},
		}},
	// asks: helm install x y
	{
		names: "helm", risk: umpire.High, consequence: sent, why: changesCluster, style: leading,
		about: "--help -h", opts: []option{
			{flags: "--debug", values: kubeOpts, does: plain},
			{values: "--kube-context --kubeconfig --kube-apiserver --kube-token --registry-config --repository-config",
				does: asks, consequence: sent, why: "talks to another cluster"},
		},
		subs: []program{
			// safe: helm list
			{
				names: "list ls status history get show inspect version env", each: true, risk: umpire.Low,
				why: looksAtCluster, check: checkHelmGet, about: "--help -h", opts: []option{
					{flags: "-A --all-namespaces -a --all -q --short --client --show-resources --show-desc --failed " +
						"--deployed --pending",
						values: kubeOpts + " -o --output --max -m --filter -f --revision --template", does: plain},
				},
			},
			{
				names: "template lint", each: true, risk: umpire.Low, why: "renders a chart", check: localChart,
				about: "--help -h", opts: []option{
					{flags: "--debug --include-crds --skip-tests --release-name --is-upgrade --no-hooks --strict " +
						"--quiet --with-subcharts", values: kubeOpts + " --set --set-string --show-only -s " +
						"--name-template --api-versions -a --kube-version", does: plain},
					{values: "-f --values", does: reads}, {values: "--output-dir", does: writes},
				},
			},
			// asks: helm dependency update
			// asks: helm plugin install x
			{
				names: "dependency dep dependencies plugin", each: true, risk: umpire.High, consequence: reversible,
				why: changesCluster, style: leading,
				subs: []program{
					// safe: helm dependency list
					{names: "list ls", each: true, risk: umpire.Low, why: "lists what a chart or helm uses",
						args: "read…", opts: []option{{values: "--max-col-width --type", does: plain}}},
				},
			},
			{
				names: "repo", risk: umpire.High, consequence: reversible, why: changesCluster, style: leading,
				subs: []program{
					{names: "list ls", each: true, risk: umpire.Low, why: "lists chart repositories",
						opts: []option{{values: "-o --output", does: plain}}},
				},
			},
			{names: "search", risk: umpire.Low, why: asksRegistry,
				opts: []option{
					{flags: "-l --versions --devel", values: "--version -o --output --max-col-width", does: plain},
				}},
		},
	},
	// asks: terraform apply
	{
		names: "terraform tofu", risk: umpire.High, consequence: sent, why: changesServices, style: words,
		about: "-version --version -v -help --help -h", opts: []option{
			{values: "-chdir", does: enters, why: worksInOther},
		},
		subs: []program{
			// safe: terraform version
			{names: "version", risk: umpire.Low, why: "prints the version", style: words, args: "none",
				opts: []option{{flags: "-json"}}},
			{
				names: "fmt", risk: umpire.Low, why: "formats files", style: words, args: "read…",
				check: checkTerraformFormat,
				opts: []option{
					{flags: "-check --check -diff -recursive -no-color", values: "-list -write", does: plain},
				},
			},
			{names: "show", risk: umpire.Low, why: "prints the state", style: words, args: "read", opts: []option{
				{flags: "-no-color"}, {flags: "-json", does: asks, consequence: harmless, why: printsOutputs},
				{values: "-state -plan", does: reads},
			}},
			{
				names: "output", risk: umpire.Low, why: "prints the names of outputs", style: words,
				check: checkTerraformOutput, opts: []option{
					{flags: "-no-color"}, {flags: "-json -raw", does: asks, consequence: harmless, why: printsOutputs},
					{values: "-state", does: reads},
				},
			},
			{names: "state", risk: umpire.High, consequence: sent, why: changesServices, style: words, subs: []program{
				{names: "list show", each: true, risk: umpire.Low, why: "prints the state", style: words,
					opts: []option{{flags: "-no-color", values: "-id", does: plain}, {values: "-state", does: reads}}},
			}},
			{
				names: "workspace", risk: umpire.High, consequence: sent, why: changesServices, style: words,
				subs: []program{
					{names: "list show", each: true, risk: umpire.Low, why: "lists workspaces", style: words},
				},
			},
			{
				names: "graph plan validate init get providers console test refresh", each: true, risk: umpire.Medium,
				consequence: lost, why: "downloads or runs the providers of the project", style: words, lax: true,
				opts: []option{
					{values: "-out", does: writes}, {values: "-var-file -state", does: reads},
					{values: "-var -target", does: plain}, {values: "-backend-config"},
				},
			},
		},
	},
	{
		names: "ansible ansible-playbook ansible-console ansible-pull ansible-galaxy kubectx kubens terragrunt salt " +
			"salt-call salt-ssh puppet chef chef-client knife packer nomad waypoint boundary nixops fab cap",
		risk: umpire.High, consequence: sent, why: changesServices, style: leading, about: "--version --help -h",
	},
	{
		names: "ansible-doc ansible-lint ansible-config ansible-inventory tflint kubeval kubeconform kube-linter " +
			"kustomize",
		risk: umpire.Medium, consequence: lost, why: "works on the project's infrastructure", lax: true,
		about: "--version --help -h",
	},
	// asks: minikube start
	{
		names: "minikube kind k3d k3s microk8s kubeadm kops istioctl linkerd argocd flux velero skaffold tilt " +
			"telepresence stern k9s argo tkn knative kn operator-sdk rancher talosctl calicoctl cilium crossplane " +
			"dapr",
		risk: umpire.High, consequence: sent, why: changesCluster, style: leading, about: "--version --help -h",
		subs: []program{
			// safe: minikube status
			{names: "version status", each: true, risk: umpire.Low, why: looksAtCluster,
				opts: []option{{flags: "--short --client", values: "-o --output -p --profile", does: plain}}},
		},
	},
}

const kubeElsewhere = "--context --cluster --user -s --server --token --as --as-group --kubeconfig"

// checkKubeGet makes looking at secrets ask.
func checkKubeGet(u *use) {
	checkKubeOutput(u)
	for _, operand := range u.operands {
		if !operand.known() || strings.Contains(strings.ToLower(operand.text), "secret") {
			u.askSecret("may print secrets of the cluster")
		}
	}
	for _, g := range u.given {
		if scan.HasField("-o --output", g.name) && g.has &&
			(!g.value.known() || strings.Contains(g.value.text, "file=")) {
			u.raise(umpire.Medium, "takes its format from a file")
		}
	}
}

// checkKubeDump makes `cluster-info dump` ask, because it writes and reveals everything.
func checkKubeDump(u *use) {
	if u.program.findSubcommand("dump") == nil && u.operandContains("dump") {
		u.askSecret("tells everything about the cluster")
	}
}

// checkKubeExec walks the command that runs in a pod.
func checkKubeExec(u *use) {
	if len(u.operands) > 1 {
		walkInContainer(u, u.operands[1:])
	}
	u.operands = nil
}

// localChart records the chart's folder, and makes a chart from elsewhere ask.
func localChart(u *use) {
	for _, g := range u.given {
		if g.has && strings.Contains(g.value.text, "://") {
			u.raiseTo(umpire.Medium, reversible, umpire.Say("downloads %s", g.value.display()))
		}
	}
	for _, operand := range u.operands {
		switch {
		case operand.open || strings.Contains(operand.text, "://"):
			u.raiseTo(umpire.Medium, reversible, "downloads a chart")
		case strings.HasPrefix(operand.text, ".") || strings.HasPrefix(operand.text, "/"):
			u.touch(umpire.KindRead, operand, accessOf{tree: true})
		}
	}
	u.operands = nil
}

// checkTerraformOutput makes a named output ask: terraform prints even a sensitive one by its
// name.
func checkTerraformOutput(u *use) {
	if len(u.operands) > 0 {
		u.askSecret(printsOutputs)
	}
}

// checkTerraformFormat makes terraform fmt ask unless it only checks.
func checkTerraformFormat(u *use) {
	for _, g := range u.given {
		if scan.HasField("-check --check", g.name) && !g.has {
			return
		}
	}
	u.raiseTo(umpire.Medium, reversible, changesSources)
}

// checkDryRun lowers the risk of a command that only prints a manifest.
func checkDryRun(u *use) {
	dry := u.gave("-o", "--output") && len(u.unknown) == 0 && !u.doubtful && u.gave("--dry-run")
	for _, g := range u.given {
		dry = dry && (g.name != "--dry-run" || g.value.known() && g.value.text == "client")
	}
	if dry {
		u.become(umpire.Safe, "prints a manifest")
	}
}
