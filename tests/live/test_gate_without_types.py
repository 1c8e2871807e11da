"""A kernel that does not tell its types (BTF), as on many routers: what of the gate works there.

A mount namespace hides them from the gate and its loader; the kernel itself is this machine's.
"""

import subprocess

import pytest
from two_a_second import TWO_A_SECOND, refuses

pytestmark = pytest.mark.live

HIDDEN = ("unshare", "--mount", "sh", "-ec")
HIDDEN += ('mount -t tmpfs none /sys/kernel/btf; exec "$@"', "sh")


def test_session_control_works(lab):
    lab.gate(f"who = true\n{TWO_A_SECOND}", by=HIDDEN)
    assert refuses(lab)
    lab.until(lambda: lab.status()["clients"], "view by client")


# The loader cannot find the length of a queue: it is sampled, and DQM needs it at each packet.
def test_the_queue_is_sampled_and_the_dual_queue_does_not_start(lab):
    lab.gate("mode = 'enforce'\nlaw = { law = 'tide' }\nshape = '1Mbit'\n", by=HIDDEN)
    assert lab.status()["admits"] == "visits"
    lab.fill(4)
    lab.until(lambda: lab.status()["waiting"] > 0, "queue that is seen")
    lab.started[0].terminate()
    lab.started[0].wait(timeout=120)
    dqm = "dqm = { x_m = 50, x_M = 50, P_M = 1, measure = 'instantaneous', buffer = 100 }\n"
    done = lab.attempt(f"law = {{ law = 'none' }}\nshape = '1Mbit'\n{dqm}", by=HIDDEN)
    assert done.returncode == 1
    assert "queue" in done.stderr


def test_doctor_says_what_is_missing(lab):
    done = subprocess.run(
        lab.command("doctor", by=HIDDEN), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    assert "poor   the kernel has no type information (BTF)" in done.stdout
    assert "poor   programs cannot read queues: no dual-queue management" in done.stdout
    assert "Linux 6.2" not in done.stdout, "this kernel is newer"
