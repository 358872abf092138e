# An image for `tamis select`, which needs no test environment. `.ci/image` first
# links the program statically, so the image downloads nothing.
FROM scratch AS program
ARG BINARY=dist/tamis
COPY --chmod=0755 ${BINARY} /usr/local/bin/tamis
# git checks the owner of a repository: a mounted one belongs to another user.
COPY action/gitconfig /etc/gitconfig
ENV PATH=/usr/local/bin HOME=/tmp TMPDIR=/tmp
# This file creates the folder with the same owner, so tamis can write state
# there. `docker run --read-only --tmpfs /tmp` works too.
COPY --chown=65532:65532 action/gitconfig /tmp/gitconfig
WORKDIR /repo
USER 65532:65532

# GitLab's runner passes a job's lines to a shell of the `image:`, so this image
# also has busybox (`--target gitlab`).
FROM program AS gitlab
COPY dist/shell/ /
ENV PATH=/usr/local/bin:/bin

FROM program
ENTRYPOINT ["/usr/local/bin/tamis"]
CMD ["--help"]
