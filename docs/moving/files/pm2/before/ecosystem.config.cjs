module.exports = {
  apps: [
    {
      name: 'shop',
      script: 'server.js',
      exec_mode: 'cluster',
      instances: 2,
      max_memory_restart: '500M',
      kill_timeout: 20000,
      node_args: '--enable-source-maps',
      env: { NODE_ENV: 'production', PORT: 3000 },
    },
  ],
};
