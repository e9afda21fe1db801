import createCache from '@emotion/cache';
import { CacheProvider } from '@emotion/react';
import {
  Accordion,
  AccordionDetails,
  AccordionSummary,
  Alert,
  AppBar,
  Avatar,
  Box,
  Breadcrumbs,
  Button,
  Card,
  CardContent,
  Checkbox,
  Chip,
  CssBaseline,
  FormControlLabel,
  Grid,
  LinearProgress,
  Link,
  List,
  ListItem,
  ListItemText,
  Pagination,
  Paper,
  Rating,
  Stack,
  Step,
  StepLabel,
  Stepper,
  Switch,
  Tab,
  Table,
  TableBody,
  TableCell,
  TableHead,
  TableRow,
  Tabs,
  TextField,
  ThemeProvider,
  Toolbar,
  Typography,
  createTheme,
} from '@mui/material';
import { rows, type LibraryPage, type Row } from './rows.ts';

const theme = createTheme();

function Page({ data }: { data: Row[] }): React.ReactNode {
  return (
    <CacheProvider value={createCache({ key: 'css' })}>
      <ThemeProvider theme={theme}>
        <CssBaseline />
        <AppBar position="static">
          <Toolbar>
            <Typography variant="h6">Orders</Typography>
            <Button color="inherit">New</Button>
          </Toolbar>
        </AppBar>
        <Breadcrumbs>
          <Link href="/">Home</Link>
          <Typography>Orders</Typography>
        </Breadcrumbs>
        <Alert severity="warning">Three orders are late</Alert>
        <Grid container spacing={2}>
          {data.slice(0, 8).map((row) => (
            <Grid size={3} key={row.id}>
              <Card>
                <CardContent>
                  <Avatar>{row.city.slice(0, 1)}</Avatar>
                  <Typography variant="h5">{row.name}</Typography>
                  <Chip label={row.city} />
                  <LinearProgress variant="determinate" value={row.id % 100} />
                  <Rating value={3} readOnly />
                </CardContent>
              </Card>
            </Grid>
          ))}
        </Grid>
        <Stepper activeStep={1}>
          <Step>
            <StepLabel>Paid</StepLabel>
          </Step>
          <Step>
            <StepLabel>Packed</StepLabel>
          </Step>
        </Stepper>
        <Paper>
          <Table size="small">
            <TableHead>
              <TableRow>
                <TableCell>Name</TableCell>
                <TableCell>City</TableCell>
                <TableCell>Amount</TableCell>
              </TableRow>
            </TableHead>
            <TableBody>
              {data.map((row) => (
                <TableRow key={row.id}>
                  <TableCell>{row.name}</TableCell>
                  <TableCell>
                    <Chip size="small" label={row.city} />
                  </TableCell>
                  <TableCell>{row.amount}</TableCell>
                </TableRow>
              ))}
            </TableBody>
          </Table>
        </Paper>
        <Tabs value={0}>
          <Tab label="Day" />
          <Tab label="Week" />
        </Tabs>
        {data.slice(0, 4).map((row) => (
          <Accordion key={row.id}>
            <AccordionSummary>{row.name}</AccordionSummary>
            <AccordionDetails>{row.city}</AccordionDetails>
          </Accordion>
        ))}
        <List>
          {data.slice(0, 6).map((row) => (
            <ListItem key={row.id}>
              <ListItemText primary={row.name} secondary={row.city} />
            </ListItem>
          ))}
        </List>
        <Stack spacing={1}>
          <TextField label="Name" id="name" />
          <FormControlLabel control={<Checkbox />} label="Open ones" />
          <Switch />
        </Stack>
        <Pagination count={10} />
        <Box sx={{ p: 2, color: 'text.secondary' }}>End</Box>
      </ThemeProvider>
    </CacheProvider>
  );
}

const page: LibraryPage<Row[]> = { data: (seed) => rows(seed, 16), element: (data) => <Page data={data} /> };
export const pages = { 'library mui': page };
