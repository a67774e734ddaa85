# Makes the repository in which the workflows of git run: branches, a remote, stashes, a submodule.
set -e
git init -q --bare -b main ../remote.git
git init -q -b main ../lib && (cd ../lib && echo lib > lib.txt && git add . && git commit -qm lib)
git init -q -b main . && mkdir -p src docs
for i in 1 2 3 4 5 6 7 8 9; do echo "line $i" > src/f$i.go; done
echo readme > README.md; echo guide > docs/guide.md; printf 'build/\n*.log\n' > .gitignore
git add . && git commit -qm first && git tag v1
echo more >> README.md && git commit -qam second
git remote add origin ../remote.git && git push -q -u origin main
git switch -qc feature && echo feature > src/feature.go && git add . && git commit -qm feature
git rm -q src/f9.go && git commit -qm less && git push -q -u origin feature
git switch -qc topic main && echo topic >> docs/guide.md && git commit -qam topic
git switch -qc merged main && echo m > src/m.go && git add . && git commit -qm m && git switch -q main && git merge -q merged
git switch -qc release v1 && echo r > release.txt && git add . && git commit -qm release && git switch -q main
git format-patch -q -1 --stdout topic > ../topic.patch && cp ../topic.patch build.log
git clone -q ../remote.git ../other && (cd ../other && echo x > other.txt && git add . && git commit -qm other && git push -q)
git reset -q --hard HEAD && echo wip >> README.md && git stash -q && echo wip2 >> docs/guide.md && git stash -q
