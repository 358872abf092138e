# The selector alone: `tamis select` needs no test environment. The program is
# linked statically beforehand (.ci/image does both), so nothing is downloaded.
FROM scratch AS program
ARG BINARY=dist/tamis
COPY --chmod=0755 ${BINARY} /usr/local/bin/tamis
# git asks whose repository it is: mounted ones belong to another user.
COPY action/gitconfig /etc/gitconfig
ENV PATH=/usr/local/bin HOME=/tmp TMPDIR=/tmp
# A file makes the folder, which belongs to whom the file does: state may be
# written there. `docker run --read-only --tmpfs /tmp` works too.
COPY --chown=65532:65532 action/gitconfig /tmp/gitconfig
WORKDIR /repo
USER 65532:65532

# GitLab's runner gives the job's lines to a shell of the `image:`: the same
# with busybox (`--target gitlab`).
FROM program AS gitlab
COPY dist/shell/ /
ENV PATH=/usr/local/bin:/bin

FROM program
ENTRYPOINT ["/usr/local/bin/tamis"]
CMD ["--help"]
