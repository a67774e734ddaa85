package shell

import (
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

const (
	looksAtContainers = "looks at containers and images"
	changesContainers = "deletes or changes containers, images or volumes"
	reachesMachine    = "gives the container the machine, or more rights than it needs"
	otherDaemon       = "talks to another daemon"
)

// Options that docker run, create and exec share and that do not extend a container's rights.
const (
	runFlags = "-d -i -t -q --rm --detach --interactive --tty --init --read-only --quiet --no-healthcheck --no-deps " +
		"--use-aliases --service-ports -T"
	runValues = "--name --hostname -h --entrypoint -w --workdir -l --label --restart --cpus -m --memory " +
		"--memory-swap --shm-size --platform --pull --stop-timeout --stop-signal --health-cmd --health-interval " +
		"--log-driver --network-alias --dns --add-host --tmpfs --detach-keys --domainname --ulimit --expose --link " +
		"-e --env --index"
)

// containerTools are the programs that run containers.
var containerTools = []program{
	{
		names: "docker podman nerdctl", risk: umpire.High, consequence: lost,
		why: "runs a subcommand that is not known", style: leading, about: "--version -v --help", opts: []option{
			{flags: "-D --debug", values: "-l --log-level", does: plain},
			{flags: "--remote -r --tls --tlsverify",
				values: "-H --host -c --context --url --connection --identity --tlscacert --tlscert --tlskey",
				does:   asks, consequence: sent, why: otherDaemon},
			{values: "--config", does: obeys, why: "obeys another configuration"},
		},
		subs: []program{
			// safe: docker ps
			{
				names: "ps images logs inspect version info stats top port history diff", each: true, risk: umpire.Low,
				why: looksAtContainers, check: checkInspect,
				about: "--help", also: []*[]option{&dockerLooks}, opts: []option{
					{flags: "-a -q -l -s -t -f -d"},
					{values: "-n", does: plain},
				},
			},
			{names: "search", risk: umpire.Low, why: asksRegistry, check: registryNames,
				opts: []option{{flags: "--no-trunc", values: "--limit --filter -f --format", does: plain}}},
			// asks: docker run x
			{
				names: "run create", each: true, risk: umpire.Medium, consequence: lost,
				why: "runs a program in a container", style: leading, check: checkDockerRun,
				about: "--help", opts: []option{
					{flags: runFlags + " -P --publish-all", values: runValues, does: plain},
					{flags: "--privileged", values: "--device --cap-add --security-opt --pid --ipc --uts --userns " +
						"--cgroupns --network --net --volumes-from --runtime --gpus --device-cgroup-rule " +
						"--cgroup-parent --group-add --sysctl --storage-opt", why: reachesMachine},
					{values: "--cidfile", does: writes},
					{values: "-v --volume --mount", does: plain},
					{values: "-p --publish -u --user -a --attach", does: plain},
					{values: "--env-file --label-file", does: reads},
				},
			},
			{
				names: "exec", risk: umpire.Medium, consequence: lost, why: "runs a program in a container",
				style: leading, check: checkDockerExec, opts: []option{
					{flags: runFlags, values: runValues, does: plain}, {values: "-u --user", does: plain},
					{flags: "--privileged", does: harms, consequence: lost, why: reachesMachine},
					{values: "--env-file", does: reads},
				},
			},
			{names: "build bake", each: true, risk: umpire.Medium, consequence: reversible, why: buildsImage,
				check: checkDockerBuild, lax: true, also: []*[]option{&dockerBuildOpts}},
			{
				names: "buildx", risk: umpire.Medium, consequence: reversible, why: buildsImage, style: leading,
				opts: []option{{values: "--builder", does: plain}},
				subs: []program{
					{
						names: "ls du version inspect", each: true, risk: umpire.Low, why: looksAtContainers,
						about: "--help", also: []*[]option{&dockerLooks}, opts: []option{
							{values: "--builder", does: plain},
							{flags: "--bootstrap", does: asks, consequence: lost, why: "starts a builder"},
						},
					},
					{names: "build b bake", each: true, risk: umpire.Medium, consequence: reversible, why: buildsImage,
						check: checkDockerBuild, lax: true, also: []*[]option{&dockerBuildOpts}},
					{names: "create rm stop prune use install uninstall imagetools debug dial-stdio history",
						each: true, risk: umpire.High, consequence: lost, why: changesContainers, lax: true},
				},
			},
			{names: "cp", risk: umpire.Medium, consequence: lost, why: "copies between a container and this machine",
				check: checkDockerCopy, opts: []option{{flags: "-a -L -q --archive --follow-link --quiet"}}},
			{names: "start tag rename wait attach pull load", each: true, risk: umpire.Medium, consequence: reversible,
				why: "changes containers or images", lax: true},
			{names: "save export", each: true, risk: umpire.Medium, consequence: reversible,
				why: "writes an image to a file", lax: true, opts: []option{{values: "-o --output", does: writes}}},
			{
				names: "manifest", risk: umpire.High, consequence: sent, why: changesContainers, style: leading,
				subs: []program{
					{names: "inspect", risk: umpire.Low, why: asksRegistry, check: registryImages,
						about: "--help", opts: []option{{flags: "-v --verbose"}}},
				},
			},
			{
				names: "container image volume network system context builder pod machine", each: true,
				risk: umpire.High, consequence: lost, why: changesContainers, style: leading,
				subs: []program{
					{
						names: "ls list ps inspect df info logs top stats port history diff show exists", each: true,
						risk: umpire.Low, why: looksAtContainers, check: checkInspect,
						about: "--help", also: []*[]option{&dockerLooks}, opts: []option{
							{flags: "-a -q -s -v -l -t", values: "-f -n", does: plain},
						},
					},
				},
			},
			{
				names: "compose", risk: umpire.High, consequence: lost, why: changesContainers, style: leading,
				also: []*[]option{&composeOpts}, opts: []option{
					{values: "-f --file --env-file", does: reads},
					{values: "--project-directory", does: enters},
				},
				more: []*[]program{&composeCommands}, subs: []program{
					{
						names: "ps images logs top port version ls events config convert stats", each: true,
						risk: umpire.Low, why: looksAtContainers, check: checkComposeConfig,
						also: []*[]option{&dockerLooks, &composeLooks},
					},
				},
			},
			{
				names: "service stack node secret config plugin", each: true, risk: umpire.High, consequence: lost,
				why: changesContainers, style: leading,
				subs: []program{
					{
						names: "ls list ps inspect", each: true, risk: umpire.Low, why: looksAtContainers,
						check: checkInspect,
						about: "--help", also: []*[]option{&dockerLooks}, opts: []option{{flags: "-q -f"}},
					},
					// safe: docker service logs web
					{names: "logs", risk: umpire.Low, why: looksAtContainers, opts: []option{
						{flags: "--timestamps --details --no-trunc --raw --no-resolve --no-task-ids --follow",
							values: "--tail --since --until", does: plain},
						{flags: "-t -f", values: "-n", does: plain},
					}},
				},
			},
			// safe: docker help run
			{names: "help", risk: umpire.Safe, why: "prints help", args: "data…"},
			{names: "push login logout trust scout", each: true, risk: umpire.High, consequence: sent,
				why: changesContainers, lax: true},
			{names: "rm rmi prune kill stop commit import update swarm pause unpause restart network-connect " +
				"extension model sandbox", each: true, risk: umpire.High, consequence: lost, why: changesContainers,
				lax: true},
		},
	},
	{
		names: "docker-compose podman-compose", risk: umpire.High, consequence: lost, why: changesContainers,
		style: leading, about: "--version -v --help -h", also: []*[]option{&composeOpts}, opts: []option{
			{values: "-f --file --env-file", does: reads},
			{values: "--project-directory", does: enters},
			{values: "-H --host", does: asks, consequence: sent, why: otherDaemon},
		},
		more: []*[]program{&composeCommands}, subs: []program{
			// safe: docker-compose ps
			{
				names: "ps images logs top port version ls events config convert", each: true, risk: umpire.Low,
				why: looksAtContainers, check: checkComposeConfig, also: []*[]option{&dockerLooks, &composeLooks},
			},
		},
	},
	{
		names: "vagrant lxc-attach qemu-system-x86_64", risk: umpire.High, consequence: lost,
		why: "runs a machine, or the project's Vagrantfile", lax: true, about: "--version",
	},
	// safe: skopeo --version
	// asks: skopeo copy a b
	{
		names: "crictl ctr lxc lxd incus buildah skopeo multipass limactl lima colima virsh VBoxManage apptainer " +
			"singularity kaniko crane dive trivy grype syft",
		risk: umpire.High, consequence: lost, why: "runs or changes machines and images", style: leading,
		about: "--version --help -h -v",
		subs: []program{
			{
				names: "ps images list ls info version inspect inspecti inspectp status", each: true, risk: umpire.Low,
				why: looksAtContainers, check: registryImages,
				opts: []option{{flags: "-a -q --all --quiet", values: "-o --output --format", does: plain}},
			},
		},
	},
}

// composeCommands are the subcommands that docker compose and docker-compose share.
var composeCommands = []program{
	// asks: docker-compose up
	{names: "up build start create restart pull watch pause unpause", each: true, risk: umpire.Medium,
		consequence: lost, why: "builds and runs the project's containers", lax: true},
	{
		names: "exec run", each: true, risk: umpire.Medium, consequence: lost,
		why: "runs a program in a container", style: leading, check: checkDockerExec, opts: []option{
			{flags: runFlags, values: runValues, does: plain}, {values: "-u --user -p --publish", does: plain},
			{flags: "--privileged", values: "-v --volume --cap-add", does: harms, consequence: lost,
				why: reachesMachine},
		},
	},
}

// The options that the subcommands of docker and compose share that look, and those of the two
// programs of compose.
var (
	composeLooks = []option{
		{flags: "--services --volumes --profiles --images --networks --no-interpolate --follow", values: "--hash",
			does: plain},
		{flags: "--environment", does: asks, consequence: harmless, why: printsEnvironment},
		{flags: "-a -q -f -t"}, {values: "-n", does: plain}, {values: "-o --output", does: writes},
	}
	dockerLooks = []option{
		{flags: "--all --quiet --latest --size --no-trunc --digests --tree --no-stream --timestamps --details " +
			"--human --verbose --no-color --no-log-prefix --json",
			values: "--last --filter --format --tail --since --until --type --index --protocol --status", does: plain},
	}
	composeOpts = []option{
		{flags: "--all-resources --compatibility --dry-run --no-ansi --verbose",
			values: "-p --project-name --profile --ansi --progress --parallel", does: plain},
	}
)

const buildsImage = "builds an image, which runs the steps of its Dockerfile"

var dockerBuildOpts = []option{
	{values: "-f --file", does: plain}, {values: "--secret --ssh"},
	{flags: "--push --privileged", values: "--allow", does: harms, consequence: sent,
		why: "publishes, or gives the build more rights"},
	{values: "-o --output --iidfile --metadata-file", does: asks, consequence: reversible, why: "writes files"},
	{values: "-t --tag --build-arg --target --platform --progress --cache-from --cache-to --network --label " +
		"--builder --build-context --add-host", does: plain},
}

// checkDockerRun judges a new container's access to the machine, and the command that it runs.
func checkDockerRun(u *use) {
	for _, g := range u.given {
		switch {
		case g.means("--privileged"):
			judgeContainerOption(u, g)
		case g.means("--volume") && g.has:
			noteVolume(u, g.value)
		}
	}
	if len(u.operands) > 1 {
		walkInContainer(u, u.operands[1:])
	}
	u.operands = nil
}

// judgeContainerOption judges an option that can reach the machine: some do only with certain
// values.
func judgeContainerOption(u *use, g given) {
	harmless := scan.HasField("--network --net --ipc --pid --uts --userns --cgroupns", g.name) && g.value.known() &&
		scan.HasField("bridge none private default shareable", g.value.text)
	if !harmless {
		u.spoke = g.name
		u.raise(umpire.High, reachesMachine)
	}
}

// noteVolume records the folder of this machine that a container gets: it can read and change
// everything below it.
func noteVolume(u *use, value word) {
	source := value
	mount := strings.Contains(value.text, "type=") || strings.Contains(value.text, "source=") ||
		strings.Contains(value.text, "src=")
	readOnly := strings.HasSuffix(value.text, ":ro") || strings.Contains(value.text, ",readonly") ||
		strings.Contains(value.text, ",ro")
	if mount {
		source = mountSource(value)
	} else if before, _, found := value.after(":"); found {
		source = lit(before)
	}
	if source.known() && !strings.ContainsAny(source.text, "/.~") {
		return
	}
	kind := umpire.KindWrite
	if readOnly && value.known() {
		kind = umpire.KindRead
	}
	if source.known() && strings.Trim(source.text, "/") == "" || strings.Contains(source.text, "docker.sock") {
		u.raise(umpire.High, reachesMachine)
	}
	u.touch(kind, source, accessOf{tree: true, why: "gives it to a container"})
}

// registryImages makes an image from another registry ask. Plain names use the default
// registry.
func registryImages(u *use) {
	for _, operand := range u.operands {
		host, _, path := strings.Cut(operand.text, "/")
		if !operand.known() || strings.Contains(operand.text, ":/") || strings.HasSuffix(operand.text, ":") ||
			path && strings.ContainsAny(host, ".:") || strings.HasPrefix(operand.text, ".") {
			u.raiseTo(umpire.Medium, sent, umpire.Say("asks the host of %s", operand.display()))
		}
	}
}

// mountSource returns the source of --mount type=bind,source=/x,target=/y.
func mountSource(value word) word {
	for field := range strings.SplitSeq(value.text, ",") {
		name, path, _ := strings.Cut(field, "=")
		if scan.HasField("source src", name) {
			return word{text: path, open: value.open && strings.HasSuffix(value.text, path)}
		}
	}
	return lit("")
}

// checkDockerExec walks the command that runs in a container.
func checkDockerExec(u *use) {
	if len(u.operands) > 1 {
		walkInContainer(u, u.operands[1:])
	}
	u.operands = nil
}

// walkInContainer walks a command in a container. An unknown program of the container adds
// nothing.
func walkInContainer(u *use, words []word) {
	if words[0].known() && u.w.knownProgram(words[0].text) == nil {
		return
	}
	walkRemotely(u, func(s *state) { u.w.runWords(s, words, u.in) })
}

// walkRemotely walks a command on another machine or in a container. Its programs show on the
// card and match rules, but its paths are not on this machine, and leaving the shell there does
// not end the line.
func walkRemotely(u *use, walk func(*state)) {
	s := u.outsideState()
	s.dirs, s.failed = nil, nil
	u.then(func() {
		defer u.w.openPart()()
		u.w.away++
		defer func() { u.w.away-- }()
		walk(s)
	})
}

// checkDockerBuild records the files that a build reads: the folder is sent to the daemon.
func checkDockerBuild(u *use) {
	for _, g := range u.given {
		if g.has && scan.HasField("-f --file", g.name) {
			u.touch(umpire.KindRead, g.value, accessOf{})
		}
	}
	for _, operand := range u.operands {
		switch {
		case operand.text == "-":
		case strings.Contains(operand.text, "://") || strings.HasPrefix(operand.text, "git@"):
			u.visit(operand, umpire.High, "builds what it downloads from it")
		default:
			u.touch(umpire.KindRead, operand, accessOf{tree: true})
		}
	}
	u.operands = nil
}

// checkDockerCopy records the path on this machine, which container:path is not.
func checkDockerCopy(u *use) {
	for i, operand := range u.operands {
		switch {
		case isRemote(operand) || operand.text == "-":
		case i == 0:
			u.touch(umpire.KindRead, operand, accessOf{tree: true})
		default:
			u.touch(umpire.KindWrite, operand, accessOf{tree: true})
		}
	}
	u.operands = nil
}
