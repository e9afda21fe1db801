import { index, route } from '@react-router/dev/routes';

export default [
  index('routes/home.jsx'),
  route('echo', 'routes/echo.jsx'),
  route('stream', 'routes/stream.jsx'),
  route('download', 'routes/download.js'),
  route('wait', 'routes/wait.js'),
  route('debug', 'routes/debug.js'),
];
