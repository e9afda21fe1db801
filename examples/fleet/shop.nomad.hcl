# Two instances under Nomad: nomad job run shop.nomad.hcl. The image is that of `sluice init --docker`.
job "shop" {
  type = "service"

  # One after the other, and each must be ready for ten seconds.
  update {
    max_parallel     = 1
    health_check     = "checks"
    min_healthy_time = "10s"
    healthy_deadline = "2m"
    auto_revert      = true
  }

  # Nodes are drained one instance at a time.
  migrate {
    max_parallel     = 1
    health_check     = "checks"
    min_healthy_time = "10s"
    healthy_deadline = "2m"
  }

  group "web" {
    count = 2

    spread {
      attribute = "${node.unique.id}"
    }

    network {
      port "web" {}
      port "admin" {}
    }

    # Taken out of the catalogue before the task gets SIGTERM.
    shutdown_delay = "5s"

    service {
      name     = "shop"
      port     = "web"
      provider = "nomad"

      # Readiness by progress. No worker answers it, so that a busy app does not fail it.
      check {
        type     = "http"
        port     = "admin"
        path     = "/ready"
        interval = "2s"
        timeout  = "1s"
      }
    }

    service {
      name     = "shop-metrics"
      port     = "admin"
      provider = "nomad"
    }

    task "app" {
      driver = "docker"

      config {
        image           = "registry.example/shop:1.0.0"
        init            = true
        ports           = ["web", "admin"]
        network_mode    = "host"
        readonly_rootfs = true
        cap_drop        = ["all"]
        security_opt    = ["no-new-privileges"]

        mount {
          type   = "tmpfs"
          target = "/tmp"
        }
      }

      env {
        SLUICE_SERVER_PORT      = "${NOMAD_PORT_web}"
        SLUICE_ADMIN_ADDRESS    = "${NOMAD_ADDR_admin}"
        SLUICE_RUN_DIR          = "${NOMAD_ALLOC_DIR}/tmp/sluice"
        SLUICE_SERVER_STATE_DIR = "${NOMAD_ALLOC_DIR}/data/sluice"
      }

      # drain.timeout_ms + workers.stop_timeout_ms + a little. The client's max_kill_timeout must allow for it.
      kill_signal  = "SIGTERM"
      kill_timeout = "45s"

      # One worker runs for each core, which the task has for itself.
      resources {
        cores  = 2
        memory = 2048
      }
    }
  }
}
