package shell

import (
	"slices"
	"testing"

	"github.com/umpirehq/umpire"
)

func TestContainersAndServices(t *testing.T) {
	t.Parallel()
	checkFamilyRisks(t, []riskCase{
		{"M-184", "docker run ubuntu", umpire.Medium}, {"docker looks", "docker ps -a", umpire.Low},
		{"docker looks", "docker logs --tail 20 x", umpire.Low}, {"docker looks", "docker compose ps", umpire.Low},
		{"docker looks", "docker compose config --services", umpire.Low},
		{"docker looks", "docker-compose logs x", umpire.Low}, {"docker looks", "docker image ls", umpire.Low},
		{"docker looks", "docker --version", umpire.Safe},
		{"other daemon", "docker -H tcp://example.test ps", umpire.Medium},
		{"other daemon", "docker --context x ps", umpire.Medium},
		{"other daemon", "DOCKER_HOST=tcp://example.test docker ps", umpire.Medium},
		{"machine", "docker run --privileged x", umpire.High}, {"machine", "docker run -v /:/m x", umpire.High},
		{"machine", "docker run --pid=host x", umpire.High}, {"machine", "docker run --pid host x", umpire.High},
		{"machine", "docker run --device /dev/sda x", umpire.High},
		{"machine", "docker run -v /var/run/docker.sock:/s x", umpire.High},
		{"machine", "docker run --priv x", umpire.High}, {"machine", "docker run --network bridge x", umpire.Medium},
		{"docker changes", "docker rm x", umpire.High}, {"docker changes", "docker push x", umpire.High},
		{"docker changes", "docker system prune -f", umpire.High}, {"docker changes", "docker build .", umpire.Medium},
		{"docker changes", "docker compose up -d", umpire.Medium},
		{"docker changes", "docker compose down", umpire.High}, {"docker changes", "docker exec x ls", umpire.Medium},
		{"docker changes", "docker exec -it x rm a", umpire.High},
		{"kubectl looks", "kubectl get pods -A", umpire.Low},
		{"kubectl looks", "kubectl -n x describe pod y", umpire.Low},
		{"kubectl looks", "kubectl logs -n x y --tail=5", umpire.Low},
		{"kubectl secrets", "kubectl get secret x -o yaml", umpire.Medium},
		{"kubectl secrets", "kubectl get pods,secrets", umpire.Medium},
		{"kubectl elsewhere", "kubectl --kubeconfig x get pods", umpire.Medium},
		{"kubectl elsewhere", "kubectl get pods --server=https://example.test", umpire.Medium},
		{"kubectl changes", "kubectl delete pod x", umpire.High},
		{"kubectl changes", "kubectl exec x -- ls", umpire.High},
		{"kubectl changes", "kubectl apply -f x.yaml", umpire.High},
		{"kubectl dump", "kubectl cluster-info dump", umpire.Medium},
		{"helm", "helm list", umpire.Low}, {"helm", "helm template .", umpire.Low},
		{"helm runs", "helm template . --post-renderer ./x", umpire.Medium}, {"helm", "helm upgrade x .", umpire.High},
		{"terraform", "terraform version", umpire.Low}, {"terraform", "terraform fmt -check", umpire.Low},
		{"terraform", "terraform fmt", umpire.Medium}, {"terraform", "terraform fmt -check=false", umpire.Medium},
		{"terraform", "terraform plan", umpire.Medium}, {"terraform", "terraform apply", umpire.High},
		{"terraform", "terraform destroy", umpire.High}, {"terraform", "terraform init", umpire.Medium},
		{"terraform", "terraform state list", umpire.Low}, {"terraform", "terraform state rm x", umpire.High},
		{"ansible", "ansible all -a x", umpire.High}, {"vagrant", "vagrant status", umpire.High},
		{"databases", "psql --version", umpire.Safe}, {"databases", "psql -c 'select 1'", umpire.Low},
		{"databases", "mysql -e 'select 1'", umpire.Low}, {"databases", "sqlite3 x.db .tables", umpire.Low},
		{"databases", "redis-cli get x", umpire.Low}, {"databases", "redis-cli flushall", umpire.High},
		{"databases", "redis-cli config set dir /x", umpire.High}, {"databases", "dropdb x", umpire.High},
		{"databases", "pg_dump x", umpire.Medium},
		{"cloud", "aws ec2 describe-instances --region x", umpire.Low}, {"cloud", "aws s3 ls", umpire.Low},
		{"cloud", "aws s3 cp .env s3://x", umpire.High}, {"cloud", "aws secretsmanager list-secrets", umpire.High},
		{"cloud", "aws ssm get-parameter --name x", umpire.High}, {"cloud", "aws s3api get-object out", umpire.High},
		{"cloud", "aws --endpoint-url https://example.test s3 ls", umpire.High},
		{"cloud", "aws ec2 terminate-instances", umpire.High},
		{"cloud", "gcloud compute instances list", umpire.Low}, {"cloud", "gcloud secrets list", umpire.High},
		{"cloud", "gcloud compute instances delete list", umpire.High}, {"cloud", "az vm show -n x", umpire.Low},
		{"cloud", "az vm delete -n x", umpire.High}, {"cloud", "vercel deploy", umpire.High},
		{"cloud", "aws sts get-caller-identity", umpire.Low},
		{"cloud", "aws ec2 describe-instances --filters file:///etc/x", umpire.High},
		{"cloud", "az webapp config appsettings list", umpire.High},
		{"helm downloads", "helm template . -f https://example.test/v.yaml", umpire.Medium},
		{"terragrunt runs hooks", "terragrunt output", umpire.High},
	})
	checkFamilyAccesses(t, []accessCase{
		{"docker run -v /srv:/srv:ro x", umpire.KindRead, "/srv"},
		{"docker run -v /srv:/srv x", umpire.KindWrite, "/srv"},
		{"docker run --mount type=bind,src=/srv,dst=/x x", umpire.KindWrite, "/srv"},
		{"docker cp /etc/shadow x:/", umpire.KindRead, "/etc/shadow"},
		{"docker cp x:/a /etc/x", umpire.KindWrite, "/etc/x"},
		{"docker build ../x", umpire.KindRead, "/p/../x"},
		{"psql -o /etc/x -c 'select 1'", umpire.KindWrite, "/etc/x"},
		{"sqlite3 -readonly /var/x.db .dump", umpire.KindRead, "/var/x.db"},
		{"sqlite3 'file:/var/x.db?mode=ro' .dump", umpire.KindRead, "/var/x.db"},
		{"sqlite3 /var/x.db 'delete from a'", umpire.KindWrite, "/var/x.db"},
	})
}

// TestFunctionsStayHere: a function of this shell does not run elsewhere.
func TestFunctionsStayHere(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"rm() { :; }; docker exec x rm -rf /srv", "rm() { :; }; ssh host rm -rf /srv", "rm() { :; }; npx rm -rf /srv",
	} {
		if !runsProgram(line, "rm") {
			t.Errorf("%s: the rm is not seen", line)
		}
	}
}

func runsProgram(line, name string) bool {
	return slices.ContainsFunc(Parse(line, Env{Dir: "/p", Home: "/home/u"}), func(a umpire.Access) bool {
		return a.Program == name
	})
}

// TestPathsElsewhere: programs in a container or on another machine are noticed, but their
// paths are not on this machine; reads and writes of the line itself are.
func TestPathsElsewhere(t *testing.T) {
	t.Parallel()
	for _, prefix := range []string{
		"docker exec x", "docker exec -it x", "podman exec x", "nerdctl exec x", "docker compose exec web",
		"docker-compose exec web", "docker compose run web",
		"docker run --rm alpine", "kubectl exec x --", "kubectl exec -it x -c y --", "ssh host", "ssh -p 22 user@host",
	} {
		for _, command := range []string{
			"rm -rf /srv", "cat /etc/shadow", "sh -c 'rm -rf /srv'", "find / -delete", "reboot",
			"dd if=/dev/zero of=/dev/sda",
		} {
			for _, a := range Parse(prefix+" "+command, Env{Dir: "/p", Home: "/home/u"}) {
				if a.Paths() || a.Risk == umpire.Critical {
					t.Errorf("%s %s: %s %s %s", prefix, command, a.Risk, a.Kind, a.Target)
				}
			}
		}
		line := prefix + " cat a > /srv/out"
		if accessOn(line, umpire.KindWrite, "/srv/out") == nil {
			t.Errorf("%s: the write is not seen", line)
		}
		if got := worstRisk(Parse(prefix+" ls", Env{Dir: "/p"})); umpire.Medium < got {
			t.Errorf("%s ls is %s", prefix, got)
		}
	}
}

func worstRisk(accesses []umpire.Access) umpire.Risk {
	f := umpire.Facts{Accesses: accesses}
	return f.Risk()
}
