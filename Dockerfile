# The selector alone: `tamis select` needs no test environment. The program is
# linked statically beforehand (.ci/image does both), so nothing is downloaded.
FROM scratch
ARG BINARY=dist/tamis
COPY --chmod=0755 ${BINARY} /usr/local/bin/tamis
# git asks whose repository it is: mounted ones belong to another user.
COPY action/gitconfig /etc/gitconfig
ENV PATH=/usr/local/bin HOME=/tmp TMPDIR=/tmp
# Where state may be written; `docker run --read-only --tmpfs /tmp` works too.
WORKDIR /tmp
WORKDIR /repo
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/tamis"]
CMD ["--help"]
